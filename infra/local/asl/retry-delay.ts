import type { Retrier } from '../../../shared/compile/asl.ts'

/**
 * Milliseconds before the next try: IntervalSeconds x BackoffRate^used, at most MaxDelaySeconds; FULL jitter takes a
 * random part of it. `random` gives four bytes. Source: Amazon States Language, "Retrying after error".
 */
export function retryDelayMs(rule: Retrier, used: number, random: () => Uint8Array): number {
  const grown = (rule.IntervalSeconds ?? 1) * (rule.BackoffRate ?? 2) ** used
  const seconds = Math.min(grown, rule.MaxDelaySeconds ?? Number.MAX_SAFE_INTEGER / 1000)
  if (rule.JitterStrategy !== 'FULL') return Math.round(seconds * 1000)
  const bytes = random()
  const share = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 2 ** 32
  return Math.round(seconds * 1000 * share)
}
