"""What is drawn and written for people: names, looks, figures, curves and pages."""
