/**
 * List prices in USD, free tiers not counted; cost.ts has what they are multiplied with. A price is looked up again
 * by changing this file alone: `as_of` goes with it.
 */
export const PRICES = {
  region: 'us-east-1',
  as_of: '2026-11-22',
  /** aws.amazon.com/step-functions/pricing: standard workflows, $0.025 for 1,000 state transitions. */
  transition: 0.025 / 1_000,
  /** aws.amazon.com/lambda/pricing: arm64, first tier. */
  lambda_gb_second: 0.0000133334,
  lambda_request: 0.2 / 1_000_000,
  /** aws.amazon.com/dynamodb/pricing/on-demand: Standard table class; prices halved in November 2024. */
  write_unit: 0.625 / 1_000_000,
  read_unit: 0.125 / 1_000_000,
  /** aws.amazon.com/s3/pricing: S3 Standard. */
  s3_put: 0.005 / 1_000,
  s3_get: 0.0004 / 1_000,
  /** aws.amazon.com/api-gateway/pricing: REST, first 333 million. */
  api_request: 3.5 / 1_000_000,
  /** aws.amazon.com/cloudwatch/pricing: log ingestion. */
  log_gb: 0.5,
  /** aws.amazon.com/xray/pricing: a trace that is recorded; one a second and a twentieth of the rest are. */
  trace: 5 / 1_000_000,
} as const
