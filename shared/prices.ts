/** Who answered: prices are of a model at one seller, never of a model's name alone. */
export interface PriceKey {
  readonly type: string
  readonly url: string
  readonly model: string
}

/** List price without discounts (cached input, batches), so an upper bound. */
export interface Price {
  readonly usd_per_million_in: number
  readonly usd_per_million_out: number
  /** Month in which the figure was last confirmed, as its first day. */
  readonly as_of: string
}

/** The price of a call; undefined = unknown, which is never taken for nothing (spec runs-and-api, "Providers"). */
export function priceOf({ type, url, model }: PriceKey): Price | undefined {
  const host = hostOf(url)
  // A model on one's own machine has no price a token; Ollama's cloud models do, and it publishes none.
  if (type === 'ollama' && isOwnMachine(host) && !model.endsWith('-cloud')) return OWN_MACHINE
  const prices = PRICES[host]
  // A dated version (`gpt-4o-2024-08-06`) costs what its name does.
  const name = model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
  const row = prices === undefined || !Object.hasOwn(prices, name) ? undefined : prices[name]
  if (row === undefined) return undefined
  const [usd_per_million_in, usd_per_million_out, as_of] = row
  return { usd_per_million_in, usd_per_million_out, as_of }
}

const OWN_MACHINE: Price = { usd_per_million_in: 0, usd_per_million_out: 0, as_of: '2025-08-01' }

type Row = readonly [usdPerMillionIn: number, usdPerMillionOut: number, asOf: string]

/** Host -> model -> price of the standard tier, as public price comparisons of March and April 2026 give it. */
const PRICES: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'api.openai.com': {
    'gpt-4o': [2.5, 10, '2026-04-01'],
    'gpt-4o-mini': [0.15, 0.6, '2026-04-01'],
    'gpt-4.1': [2, 8, '2026-04-01'],
    'gpt-4.1-mini': [0.4, 1.6, '2026-04-01'],
    'gpt-4.1-nano': [0.1, 0.4, '2026-04-01'],
    'gpt-5': [1.25, 10, '2026-04-01'],
    'gpt-5-mini': [0.25, 2, '2026-04-01'],
    'gpt-5-nano': [0.05, 0.4, '2026-04-01'],
    o3: [2, 8, '2026-04-01'],
    'o4-mini': [1.1, 4.4, '2026-04-01'],
  },
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname.toLowerCase()
  } catch {
    return ''
  }
}

/** This computer, or one of a private network. */
function isOwnMachine(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(1[6-9]|2\d|3[01])\.\d+\.\d+|[a-z0-9-]+|.+\.local)$/.test(
    host,
  )
}
