"""ℓp-norm multiple kernel learning."""
