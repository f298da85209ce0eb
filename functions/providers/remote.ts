import { Fault } from '../../shared/errors.ts'
import type { KeyRef } from '../../shared/key-settings.ts'
import type { Price } from '../../shared/prices.ts'
import type { RemoteSettings } from '../../shared/provider-settings.ts'

/** Reads the key of a provider where this place keeps it; Fault InvalidInput provider_key_missing. */
export type ReadKey = (provider: string, key: KeyRef) => Promise<string>

/** A provider that is reached over HTTP, as the settings have it. */
export interface Remote {
  /** Its name in sluice.yaml. */
  readonly name: string
  readonly url: string
  readonly timeout_ms: number
  /** Longest silence once an answer has begun; undefined = as long as timeout_ms. */
  readonly idle_ms?: number
  /** Of the model that was asked for, which the server may call otherwise; undefined = unknown. */
  price(asked: string, answered?: string): Price | undefined
  /** Undefined for a provider that needs none. */
  key(): Promise<string | undefined>
}

/** What of a model at a provider is charged. */
export type ReadPrice = (provider: string, asked: string, answered?: string) => Price | undefined

interface RemotePlace {
  readonly readKey: ReadKey
  readonly price: ReadPrice
}

/** The default of a block; longer ones must be asked for in both. */
export const DEFAULT_TIMEOUT_MS = 300_000

export function openRemote(name: string, settings: RemoteSettings, { readKey, price }: RemotePlace): Remote {
  const { url, key, timeout_ms = DEFAULT_TIMEOUT_MS } = settings
  const idle_ms = 'idle_ms' in settings ? settings.idle_ms : undefined
  return {
    name,
    url,
    timeout_ms,
    price: (asked, answered) => price(name, asked, answered),
    ...(idle_ms === undefined ? {} : { idle_ms }),
    key: async () => (key === undefined ? undefined : usable(name, await readKey(name, key))),
  }
}

/** The address of one of its paths: below the path of the url, whose query stays. */
export function addressOf({ url }: Pick<Remote, 'url'>, path: string): string {
  const address = new URL(url)
  const base = address.pathname.replace(/\/+$/, '')
  address.pathname = base.endsWith(path) ? base : `${base}${path}`
  return address.href
}

/** fetch puts a header it refuses into its error, so it is never asked to send one. Files often end in a line break. */
function usable(provider: string, text: string): string {
  const key = text.trim()
  if (/^[\x21-\x7e]{1,8192}$/.test(key)) return key
  const message = `Cannot ask provider "${provider}": its key is blank or holds characters no header can carry. Store the bare key, printable ASCII without blanks.`
  throw new Fault('InvalidInput', 'provider_key_missing', message, { facts: { provider } })
}
