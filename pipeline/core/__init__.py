"""The shared learner core: arrays in, arrays out."""
