"""Tracking: what became of sweeps and jobs, told to MLflow. Results never depend on it."""
