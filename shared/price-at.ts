import { type Price, priceOf } from './prices.ts'
import type { Settings } from './settings.ts'

/** Nobody is paid for what these answer. */
const FREE: ReadonlySet<string> = new Set(['local', 'replay', 'extractive'])

/**
 * The price of a model at a provider of this place, by its settings; undefined = unknown. A provider the settings do not
 * name is one every place has, or none there is.
 */
export function priceAt(providers: Settings['providers'], name: string, model: string): Price | undefined {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  const type = settings?.type ?? name
  if (FREE.has(type)) return { usd_per_million_in: 0, usd_per_million_out: 0, as_of: '2026-11-01' }
  const url = settings !== undefined && 'url' in settings ? settings.url : ''
  const region = settings !== undefined && 'region' in settings ? settings.region : undefined
  return priceOf({ type, url, model, ...(region === undefined ? {} : { region }) })
}
