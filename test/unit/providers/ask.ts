import { createProviders } from '../../../functions/providers/registry.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../../shared/providers/provider.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const found = createProviders(SettingsSchema.parse({})).get('local')
if (found === undefined) throw new Error('provider local is always there')
const local: Provider = found

export const PLAN = '## Steps\n- Read the file.\n- Count its 12 columns.\n\nIt takes 3 days. Nobody waits.'

/** A dispatch to `local` with a single required string port, unless the request says otherwise. */
export function ask(request: Partial<DispatchRequest>): Promise<DispatchAnswer> {
  return local.dispatch({
    prompt: '',
    model: 'llama3:8b',
    params: {},
    inputs: {},
    output_schema: { text: { type: 'string', required: true } },
    feedback: [],
    signal: new AbortController().signal,
    idempotency_key: 'run/0/1/0',
    ...request,
  })
}
