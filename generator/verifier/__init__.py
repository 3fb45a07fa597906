"""The verifier: any task package in, findings and a verdict out."""
