import { Fault } from '../errors.ts'
import type { KeyRef } from '../ports/secrets.ts'
import { findService, keyHeader, type ServicesSettings } from './settings.ts'

/** Keys of the services the settings name. */
export interface Services {
  /** Undefined = the service has no key. Faults InvalidInput service_key_missing; those of the place. */
  key(service: string): Promise<ServiceKey | undefined>
}

/** A header that proves who asks. */
export interface ServiceKey {
  /** Its name, in small letters. */
  readonly header: string
  readonly value: string
  /** The key in it: what must not be told on. */
  readonly secret: string
}

/** The Services port over the place's way to a key; `read` answers undefined where it has none of it. */
export function openServices(services: ServicesSettings, read: (key: KeyRef) => Promise<string | undefined>): Services {
  return {
    async key(name) {
      const service = findService(services, name)
      const header = service === undefined ? undefined : keyHeader(service)
      if (service?.key === undefined || header === undefined) return undefined
      const secret = (await read(service.key))?.trim() ?? ''
      if (!/^[\x21-\x7e][\x20-\x7e]{0,4095}$/.test(secret)) throw missing(name, secret)
      return { header, value: service.header === undefined ? `Bearer ${secret}` : secret, secret }
    },
  }
}

function missing(service: string, seen: string): Fault {
  const why =
    seen === '' ? 'this place has no key of it' : 'no header can carry its key, which is one line of printable ASCII'
  const message = `Cannot ask service "${service}": ${why}. Set the environment variable that services.${service}.key.env names (on AWS, the value behind services.${service}.key.secret), and start the place again or deploy.`
  return new Fault('InvalidInput', 'service_key_missing', message, { facts: { service } })
}
