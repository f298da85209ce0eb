import { Fault } from '../errors.ts'
import type { KeyRef } from '../ports/secrets.ts'
import type { TriggerSettings } from './settings.ts'

/** Secrets that senders of webhooks share with this place. */
export interface HookKeys {
  /** One, or two while it is rotated. Faults Unavailable hook_key_missing; those of the place. */
  read(name: string): Promise<readonly string[]>
}

/** The HookKeys port over the place's way to a key; `read` answers undefined where it has none of it. */
export function openHookKeys(
  { secrets }: Pick<TriggerSettings, 'secrets'>,
  read: (key: KeyRef) => Promise<string | undefined>,
): HookKeys {
  return {
    async read(name) {
      const refs = Object.hasOwn(secrets, name) ? [secrets[name] ?? []].flat() : []
      const found = await Promise.all(refs.map(async (ref) => (await read(ref))?.trim() ?? ''))
      const there = found.filter((secret) => secret !== '')
      if (there.length > 0) return there
      const why = refs.length === 0 ? 'sluice.yaml names none so' : 'this place has nothing there'
      const message = `Cannot judge a webhook by secret "${name}": ${why}. Add triggers.secrets.${name} to sluice.yaml, and set what it names.`
      throw new Fault('Unavailable', 'hook_key_missing', message, { facts: { secret: name } })
    },
  }
}
