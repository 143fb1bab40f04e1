"""How R_T grows with T, beside the powers that the theory proves."""
