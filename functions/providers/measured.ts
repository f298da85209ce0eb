import type { Price } from '../../shared/prices.ts'
import type { DispatchAnswer, DispatchRequest } from '../../shared/provider.ts'

/** Counts as a server sent them: any value, or none. */
export interface Usage {
  readonly tokens_in?: unknown
  readonly tokens_out?: unknown
}

/**
 * What a call used and cost. Tokens the server did not count are estimated at four characters each, and `note` says so;
 * a price is only given for counted tokens of a model whose price is known.
 */
export function measured(
  request: Pick<DispatchRequest, 'system' | 'prompt'>,
  text: string,
  usage: Usage,
  rate: Price | undefined,
): Pick<DispatchAnswer, 'tokens_in' | 'tokens_out' | 'usd' | 'note'> {
  const counted = { in: count(usage.tokens_in), out: count(usage.tokens_out) }
  const tokens_in = counted.in ?? estimate((request.system ?? '') + request.prompt)
  const tokens_out = counted.out ?? estimate(text)
  if (counted.in === undefined || counted.out === undefined) {
    return {
      tokens_in,
      tokens_out,
      ...free(rate),
      note: 'tokens are estimated, four characters each: the server sent no count',
    }
  }
  if (rate === undefined) return { tokens_in, tokens_out }
  const usd = (tokens_in * rate.usd_per_million_in + tokens_out * rate.usd_per_million_out) / 1_000_000
  return { tokens_in, tokens_out, usd }
}

/** Nothing times an estimate is still nothing. */
function free(rate: Price | undefined): { readonly usd?: number } {
  return rate?.usd_per_million_in === 0 && rate.usd_per_million_out === 0 ? { usd: 0 } : {}
}

function estimate(text: string): number {
  return Math.ceil(text.length / 4)
}

function count(given: unknown): number | undefined {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 ? given : undefined
}
