import type { Json } from '../canonical.ts'
import type { RetryPolicy } from './dag.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'

/** Total tries and the delays between them; without `retry` there is one try (docs/dag.md, "Retry"). */
export function readRetry(reading: Reading, given: Json | undefined, path: Path): RetryPolicy {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.retry, given, path)
  return {
    max_attempts: Math.max(1, section?.max_attempts ?? 1),
    backoff: section?.backoff ?? 'exponential',
    delay_ms: section?.delay_ms ?? 1_000,
    max_delay_ms: section?.max_delay_ms ?? 30_000,
    jitter: section?.jitter ?? 'full',
  }
}
