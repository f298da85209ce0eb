import * as z from 'zod'
import type { Issue } from '../errors.ts'
import { didYouMean, listed, suggest } from '../text/wording.ts'
import type { ProviderSettings } from './settings.ts'

const usd = z.number().min(0).max(1_000_000)

/**
 * What models cost at providers of this place, in dollars a million tokens: `<provider>/<model>`, or `<provider>/*` for all
 * of it. It goes before the table of list prices (docs/providers.md, "Prices").
 */
export const PriceSettingsSchema = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}\/\S.{0,199}$/, 'a provider, a slash and a model, or * for all of it'),
    z.strictObject({ input: usd, output: usd, cached_input: usd.optional() }),
  )
  .refine((prices) => Object.keys(prices).length <= 200, 'at most 200 prices')
type SetPrices = z.infer<typeof PriceSettingsSchema>

/** What of the settings makes a price. */
export interface Pricing {
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly prices?: SetPrices | undefined
}

/** Nobody is paid for what these answer. */
const FREE: ReadonlySet<string> = new Set(['local', 'replay', 'extractive'])

/**
 * Whether a provider of this place asks a model at all. `local` computes; what is recorded and the research chain's own model
 * are counted as the models they stand for.
 */
export function callsModel(providers: Pricing['providers'], name: string): boolean {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  return (settings?.type ?? name) !== 'local'
}

/**
 * The price of a model at a provider of this place, by its settings; undefined = unknown. A provider the settings do not
 * name is one every place has, or none there is. `answered`: what the server calls the model that answered.
 */
export function modelPriceAt(
  { providers, prices }: Pricing,
  name: string,
  model: string,
  answered = model,
): Price | undefined {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  const type = settings?.type ?? name
  if (FREE.has(type)) return { usd_per_million_in: 0, usd_per_million_out: 0, as_of: '2026-11-01' }
  const url = settings !== undefined && 'url' in settings ? (settings.url ?? '') : ''
  const region = settings !== undefined && 'region' in settings ? settings.region : undefined
  const listPrice = listedPrice({ type, url, model: answered, ...(region === undefined ? {} : { region }) })
  return priceSet(prices, name, model) ?? listPrice
}

/** As the table has it: a dated version costs what its name does. */
function priceSet(prices: SetPrices = {}, name: string, model: string): Price | undefined {
  const keys = [model, undatedModel(model), '*'].map((one) => `${name}/${one}`)
  const key = keys.find((one) => Object.hasOwn(prices, one))
  const found = key === undefined ? undefined : prices[key]
  if (found === undefined) return undefined
  const { input: usd_per_million_in, output: usd_per_million_out, cached_input } = found
  const cached = cached_input === undefined ? {} : { usd_per_million_cached_in: cached_input }
  return { usd_per_million_in, usd_per_million_out, ...cached }
}

/** Prices of providers that are not there: nobody would ever be charged them. */
export function priceIssues({ providers, prices = {} }: Pricing): readonly Issue[] {
  const known = Object.keys(providers)
  return Object.keys(prices).flatMap((key) => {
    const [name = ''] = key.split('/')
    if (known.includes(name)) return []
    const hint = didYouMean(suggest(name, known))
    const message = `"${key}" is of provider "${name}", which is none of providers: ${listed(known)}`
    return [{ path: 'prices', message, ...(hint === undefined ? {} : { hint }) }]
  })
}

/** Who answered: prices are of a model at one seller, never of a model's name alone. */
interface PriceKey {
  readonly type: string
  /** '' where the seller is no URL of the settings. */
  readonly url: string
  /** Of Bedrock, whose prices differ by region: the one that is asked. */
  readonly region?: string
  readonly model: string
}

/** List price without discounts (cached input, batches), so an upper bound. */
export interface Price {
  readonly usd_per_million_in: number
  readonly usd_per_million_out: number
  /** Of tokens that the server says it took from its cache; absent = as any other. Nobody plans with it. */
  readonly usd_per_million_cached_in?: number
  /** Month in which the figure was last confirmed, as its first day; absent of one the settings say. */
  readonly as_of?: string
}

/** The price of a call; undefined = unknown, which is never taken for nothing (docs/providers.md, "Prices"). */
export function listedPrice({ type, url, region, model }: PriceKey): Price | undefined {
  if (type === 'bedrock') return bedrockPrice(region, model)
  const host = hostOf(url)
  // A model on one's own machine has no price a token; Ollama's cloud models do, and it publishes none.
  if (type === 'ollama' && isOwnMachine(host) && !model.endsWith('-cloud')) return OWN_MACHINE
  const prices = PRICES[host]
  const name = undatedModel(model)
  return priced(prices === undefined || !Object.hasOwn(prices, name) ? undefined : prices[name])
}

/** A dated version (`gpt-4o-2024-08-06`) costs what its name does. */
function undatedModel(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}

function priced(row: Row | undefined): Price | undefined {
  if (row === undefined) return undefined
  const [usd_per_million_in, usd_per_million_out, as_of] = row
  return { usd_per_million_in, usd_per_million_out, as_of }
}

/** The region that is asked sets the price, wherever a cross-region profile has it answered. */
function bedrockPrice(region: string | undefined, model: string): Price | undefined {
  const found = BEDROCK.find(({ regions, prices }) => regions.includes(region ?? '') && Object.hasOwn(prices, model))
  return priced(found?.prices[model])
}

const OWN_MACHINE: Price = { usd_per_million_in: 0, usd_per_million_out: 0, as_of: '2025-08-01' }

type Row = readonly [usdPerMillionIn: number, usdPerMillionOut: number, asOf: string]

/**
 * Host -> model -> price of the standard tier, as public price comparisons of March and April 2026 give it; of embeddings,
 * which write nothing, as OpenAI's page of each model does (developers.openai.com/api/docs/models).
 */
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
    'text-embedding-3-small': [0.02, 0, '2026-05-01'],
    'text-embedding-3-large': [0.13, 0, '2026-05-01'],
    'text-embedding-ada-002': [0.1, 0, '2026-05-01'],
  },
}

/**
 * On-demand prices of the standard tier: Claude as its maker's price list and AWS's page on global cross-region
 * inference give them (a geography's profile costs a tenth more than the global one since version 4.5), Nova as public
 * price comparisons of January to April 2026 do. Other regions and models: unknown.
 */
const BEDROCK: readonly {
  readonly regions: readonly string[]
  readonly prices: Readonly<Record<string, Row>>
}[] = [
  {
    regions: ['us-east-1', 'us-west-2'],
    prices: {
      'anthropic.claude-3-haiku-20240307-v1:0': [0.25, 1.25, '2026-04-01'],
      'us.anthropic.claude-3-haiku-20240307-v1:0': [0.25, 1.25, '2026-04-01'],
      'us.anthropic.claude-3-5-haiku-20241022-v1:0': [0.8, 4, '2026-04-01'],
      'us.anthropic.claude-3-7-sonnet-20250219-v1:0': [3, 15, '2026-04-01'],
      'us.anthropic.claude-sonnet-4-20250514-v1:0': [3, 15, '2026-04-01'],
      'global.anthropic.claude-sonnet-4-5-20250929-v1:0': [3, 15, '2026-04-01'],
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0': [3.3, 16.5, '2026-04-01'],
      'global.anthropic.claude-haiku-4-5-20251001-v1:0': [1, 5, '2026-04-01'],
      'us.anthropic.claude-haiku-4-5-20251001-v1:0': [1.1, 5.5, '2026-04-01'],
    },
  },
  {
    regions: ['us-east-1'],
    prices: {
      'amazon.nova-micro-v1:0': [0.035, 0.14, '2026-01-01'],
      'us.amazon.nova-micro-v1:0': [0.035, 0.14, '2026-01-01'],
      'amazon.nova-lite-v1:0': [0.06, 0.24, '2026-01-01'],
      'us.amazon.nova-lite-v1:0': [0.06, 0.24, '2026-01-01'],
      'amazon.nova-pro-v1:0': [0.8, 3.2, '2026-01-01'],
      'us.amazon.nova-pro-v1:0': [0.8, 3.2, '2026-01-01'],
    },
  },
]

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
