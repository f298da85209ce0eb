import * as z from 'zod'
import { didYouMean, suggest } from './dag/suggest.ts'
import { listed } from './dag/wording.ts'
import type { Issue } from './errors.ts'
import { type Price, priceOf, undatedModel } from './prices.ts'
import type { ProviderSettings } from './provider-settings.ts'

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
    z.strictObject({ input: usd, output: usd }),
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
export function priceAt(
  { providers, prices }: Pricing,
  name: string,
  model: string,
  answered = model,
): Price | undefined {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  const type = settings?.type ?? name
  if (FREE.has(type)) return { usd_per_million_in: 0, usd_per_million_out: 0, as_of: '2026-11-01' }
  const url = settings !== undefined && 'url' in settings ? settings.url : ''
  const region = settings !== undefined && 'region' in settings ? settings.region : undefined
  const listPrice = priceOf({ type, url, model: answered, ...(region === undefined ? {} : { region }) })
  return priceSet(prices, name, model) ?? listPrice
}

/** As the table has it: a dated version costs what its name does. */
function priceSet(prices: SetPrices = {}, name: string, model: string): Price | undefined {
  const keys = [model, undatedModel(model), '*'].map((one) => `${name}/${one}`)
  const key = keys.find((one) => Object.hasOwn(prices, one))
  const found = key === undefined ? undefined : prices[key]
  return found && { usd_per_million_in: found.input, usd_per_million_out: found.output }
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
