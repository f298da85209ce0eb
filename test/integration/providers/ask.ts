import { createProviders } from '../../../functions/providers/registry.ts'
import { Fault } from '../../../shared/errors.ts'
import type { DispatchAnswer, DispatchRequest } from '../../../shared/providers/provider.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { ALL_ADAPTERS } from './all-adapters.ts'

const TEXT = { text: { type: 'string', required: true } } as const
export const PORTS = {
  title: { type: 'string', required: true, description: 'Five words' },
  steps: { type: 'number', required: false },
} as const

/** Asks one configured provider; its key, if it has one, is read as `sk-canary-0123456789`. */
export function asker(settings: object) {
  const parsed = SettingsSchema.parse({ providers: { own: settings } })
  const provider = createProviders(parsed, { readKey: async () => 'sk-canary-0123456789', adapters: ALL_ADAPTERS }).get(
    'own',
  )
  if (provider === undefined) throw new Error('it is configured')
  const ask = (more: Partial<DispatchRequest> = {}): Promise<DispatchAnswer> =>
    provider.dispatch({
      prompt: 'Plan it.',
      model: 'm-1',
      params: {},
      inputs: {},
      output_schema: TEXT,
      feedback: [],
      signal: new AbortController().signal,
      idempotency_key: 'run_1/0/0/1/0',
      ...more,
    })
  const fault = async (more: Partial<DispatchRequest> = {}): Promise<Fault> => {
    const thrown: unknown = await ask(more).catch((error: unknown) => error)
    if (thrown instanceof Fault) return thrown
    throw new Error(`answered ${JSON.stringify(thrown)}`)
  }
  return { ask, fault }
}
