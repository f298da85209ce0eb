import * as z from 'zod'
import { LIMITS } from '../limits.ts'

/** 64 TiB. */
const MOST_BYTES = 2 ** 46

/** Safety policy (docs/limits-and-costs.md, "Caps an operator sets"). */
export const SafetySchema = z.strictObject({
  max_run_sec: z.int().min(1).max(31_536_000).default(604_800),
  max_block_ms: z.int().min(1).max(LIMITS.timeout_ms).default(LIMITS.timeout_ms),
  /** The same of a block whose work AWS does itself, which may take days. */
  max_call_ms: z.int().min(1).max(LIMITS.call_timeout_ms).default(LIMITS.call_timeout_ms),
  max_attempts: z.int().min(1).max(100).default(5),
  max_parallel: z.int().min(0).max(1_000).default(50),
  max_body_bytes: z.int().min(1_024).max(10_485_760).default(1_048_576),
  /** The same of a request that puts entities, with their bodies, or triples. In base64 AWS Lambda takes no 5 MB. */
  max_batch_bytes: z.int().min(1_024).max(10_485_760).default(4_194_304),
  /** Active runs of a tenant; children of a run are not counted. Over it a start is refused, or waits with `queue`. */
  max_runs: z.int().min(1).max(1_000).default(20),
  queue: z.boolean().default(false),
  /** Without progress and nothing to wait for, a run is cancelled after this long. */
  stall_sec: z.int().min(60).max(86_400).default(300),
  /** What providers may use; absent = no cap. */
  max_run_tokens: z.int().min(1).optional(),
  max_run_usd: z.number().positive().optional(),
  max_block_tokens: z.int().min(1).optional(),
  max_block_usd: z.number().positive().optional(),
  /** Bytes of bodies: of a run, and of a tenant's runs and uploads as long as they are kept; absent = no quota. */
  max_run_bytes: z.int().min(1_048_576).max(MOST_BYTES).default(268_435_456),
  max_tenant_bytes: z.int().min(1_048_576).max(MOST_BYTES).optional(),
  /** Requests of one caller that start, change or check something. */
  max_requests_per_min: z.int().min(1).max(100_000).default(120),
  /** The same of all callers of a tenant together; absent = only callers are counted. */
  max_tenant_requests_per_min: z.int().min(1).max(1_000_000).optional(),
  /** Streams of events that are open at once: of a caller, and of all callers of a tenant together. */
  max_streams_per_caller: z.int().min(1).max(1_000).default(10),
  max_streams: z.int().min(1).max(1_000).default(100),
  /** false: whoever started a run may not decide in it, whatever its document says. */
  self_approval: z.boolean().default(true),
  /** How long an ended run and its bodies are kept. */
  retention_days: z.int().min(1).max(3_650).default(90),
})
export type Safety = z.infer<typeof SafetySchema>

/** Bytes the body of a request to a route may have. */
export function mostBodyBytes(
  { max_body_bytes, max_batch_bytes }: Pick<Safety, 'max_body_bytes' | 'max_batch_bytes'>,
  route: { readonly takes_batches?: true } = {},
): number {
  return route.takes_batches === true ? Math.max(max_body_bytes, max_batch_bytes) : max_body_bytes
}
