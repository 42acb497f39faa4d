"""Admission policies in CEL: ValidatingAdmissionPolicy and MutatingAdmissionPolicy."""
