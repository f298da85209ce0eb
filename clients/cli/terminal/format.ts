/** `0.31 s`, `12.4 s`, `3 min 05 s`, `2 h 04 min`. */
export function durationWords(ms: number): string {
  const seconds = Math.max(ms, 0) / 1_000
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(Math.round(seconds) / 60)
  if (minutes < 60) return `${minutes} min ${two(Math.round(seconds) % 60)} s`
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`
}

/** `812 bytes`, `12.3 KiB`, `4.0 MiB`, `61.2 GiB`. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_024) return count(bytes, 'byte')
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`
  if (bytes < 1_073_741_824) return `${(bytes / 1_048_576).toFixed(1)} MiB`
  return `${(bytes / 1_073_741_824).toFixed(1)} GiB`
}

/** `1 block`, `2 blocks`. */
export function count(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? '' : 's'}`
}

function two(n: number): string {
  return String(n).padStart(2, '0')
}

interface Costed {
  readonly tokens: number
  readonly usd: number | null
  readonly unpriced_tokens?: number | undefined
}

/** `$0.0042`, `$0.0042 + unknown` (`run cost` says of what), `unknown price`; nothing where nothing was paid for. */
export function costWords({ tokens, usd, unpriced_tokens = 0 }: Costed): string {
  if (usd === null) return tokens === 0 ? '' : 'unknown price'
  const known = usdWords(usd)
  if (unpriced_tokens > 0) return `${known} + unknown`
  return usd === 0 ? '' : known
}

/** `$0`, `$0.0042`. */
export function usdWords(usd: number): string {
  return usd === 0 ? '$0' : `$${usd.toFixed(4)}`
}

/** Why a block was left out: its own condition, or upstream blocks that did not complete. */
export function skipWords(because: readonly string[], condition: string | undefined): string {
  if (condition !== undefined) return `as its "${condition}" is not true`
  return `because of ${because.join(', ')}`
}
