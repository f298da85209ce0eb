/**
 * List prices in USD, free tiers not counted, and the quantities a run's own cost is estimated with (docs/plan.md has
 * the formula). A price is looked up again by changing this file alone: `as_of` goes with it.
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
} as const

/** Memory of the functions, MB: infra/aws/function-size.ts, and a test holds them equal. */
export const FUNCTION_MB: Readonly<Record<string, number>> = {
  'run-block': 1_024,
  'decide-completion': 1_024,
  'wait-join': 256,
  'request-approval': 512,
  'open-child': 1_024,
  'close-module': 256,
  settle: 256,
  'nl-classify': 1_769,
  'route-search': 512,
  'execute-subqueries': 1_769,
  'assess-sufficiency': 512,
  'synthesize-answer': 512,
  'start-run': 1_024,
  'send-outbox': 256,
}

/** Assumed, or counted once on the run store (test/integration/aws/run-store-items.test.ts): see docs/plan.md. */
export const QUANTITIES = {
  /** A call besides the work of its block: reading, judging, appending. */
  seconds_a_call: 0.3,
  /** Calls a run makes beside its machine: the start, and the outbox for start and end. */
  outbox_calls: 2,
  /** Stored events: run:started and the run's end; ready, started, output, completed of a block; one of each gate. */
  events_a_run: 2,
  events_a_block: 4,
  /** requested and decided. */
  events_an_approval: 2,
  /** Write units an event at a small HEAD, and what each block of HEAD adds to it. */
  units_an_event: 2.3,
  units_an_event_and_block: 0.0047,
  /** META, HEAD, index entries and the end of a run. */
  units_a_run: 15,
  read_units_a_call: 8,
  read_units_a_run: 16,
  /** The document and the context; a prompt and an output of each block. */
  objects_a_run: 2,
  objects_a_block: 2,
  log_bytes_a_call: 2_100,
} as const
