/** null = no price is known; with the tokens that are without one. */
export function usdWords(usd: number | null | undefined, unpriced_tokens = 0): string {
  if (usd === null || usd === undefined) return 'unknown price'
  if (unpriced_tokens === 0) return dollars(usd)
  const tokens = `${unpriced_tokens.toLocaleString('en')} token${unpriced_tokens === 1 ? '' : 's'}`
  return `${dollars(usd)} and ${tokens} of unknown price`
}

export function bytesWords(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}

/** What a model read and wrote. */
export function tokensWords(tokens_in = 0, tokens_out = 0): string {
  return `${tokens_in.toLocaleString('en')} in, ${tokens_out.toLocaleString('en')} out`
}

function dollars(usd: number): string {
  return usd === 0 ? '$0' : `$${usd.toFixed(usd < 0.01 ? 6 : 4).replace(/(\.\d{4})0+$/, '$1')}`
}
