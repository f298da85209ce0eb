interface Costed {
  readonly tokens: number
  readonly usd: number | null
  readonly unpriced_tokens?: number | undefined
}

/** `$0.0042`, `$0.0042 + unknown` (`run cost` says of what), `unknown price`; nothing where nothing was paid for. */
export function costWords({ tokens, usd, unpriced_tokens = 0 }: Costed): string {
  if (usd === null) return tokens === 0 ? '' : 'unknown price'
  const known = usd === 0 ? '$0' : `$${usd.toFixed(4)}`
  if (unpriced_tokens > 0) return `${known} + unknown`
  return usd === 0 ? '' : known
}
