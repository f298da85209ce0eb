import type { DispatchRequest } from '../../../shared/providers/provider.ts'
import { fileRefused, invalidAnswerFault, refuseTools } from '../model-answers.ts'
import type { OpenAdapter } from '../registry.ts'
import { openRemote, type Remote } from '../remote.ts'
import { aiSdkProvider } from './adapter.ts'
import type { ModelPackage } from './model-package.ts'
import { chatCompletions } from './openai-compatible.ts'

/**
 * An OpenClaw gateway: chat completions in which `model` names an agent, not a model. `openclaw` is the gateway's own
 * default agent, `openclaw:<id>` one of its agents, said in a header too, as gateways of every version understand it.
 * Each request is a session of its own. The form of an object is asked for in words: an agent knows no schema, and has
 * tools of its own alone.
 */
const gateway: ModelPackage = {
  ...chatCompletions,
  forms: ['words'],
  prepare(remote, request) {
    refuseTools(remote.name, request, 'its agents have tools of their own and take no others')
    for (const file of request.files ?? []) throw fileRefused(remote.name, file, 'no files')
    const agent = agentOf(remote, request)
    const { backend_model, ...params } = request.params
    const headers = {
      ...(agent === undefined ? {} : { 'x-openclaw-agent-id': agent }),
      ...(backend_model === undefined ? {} : { 'x-openclaw-model': backendOf(remote, backend_model) }),
    }
    const model = agent === undefined ? 'openclaw' : `openclaw:${agent}`
    return { request: { ...request, model, params }, headers }
  },
  open: (parts) => chatCompletions.open({ ...parts, baseURL: versioned(parts.baseURL) }),
}

/** Its documents give the address of the gateway alone; one with /v1 is meant the same. */
function versioned(baseURL: string): string {
  return baseURL.endsWith('/v1') ? baseURL : `${baseURL}/v1`
}

/** Undefined = the gateway's default. A document may write the id alone, or any of the forms the gateway takes. */
function agentOf({ name }: Remote, { model }: DispatchRequest): string | undefined {
  const id = model.replace(/^(openclaw|agent)[:/]/, '')
  if (id === 'openclaw' || id === 'default') return undefined
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) return id
  const message = `Cannot ask provider "${name}" for ${JSON.stringify(model.slice(0, 100))}: its models are agents. Write the id of one (letters, digits, - and _), or "openclaw" for the default one.`
  throw invalidAnswerFault(name, message)
}

/** The model behind the agent, as the gateway knows it: `vendor/model`. */
function backendOf({ name }: Remote, given: unknown): string {
  if (typeof given === 'string' && /^[\w./:@-]{1,200}$/.test(given)) return given
  throw invalidAnswerFault(
    name,
    `Cannot ask provider "${name}": backend_model must name a model such as "vendor/model".`,
  )
}

export const openOpenclaw: OpenAdapter<'openclaw'> = (name, settings, place) =>
  aiSdkProvider(openRemote(name, settings, place), gateway)
