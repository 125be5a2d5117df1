"""What every pass and tool shares: errors, locations, remarks, verification, pipelines."""
