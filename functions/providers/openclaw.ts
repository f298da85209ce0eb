import type { DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { askCompletions, createRequestBodies } from './completions.ts'
import { invalidAnswerFault } from './model-answers.ts'
import { providerOverHttp, type Remote } from './remote.ts'

/**
 * An OpenClaw gateway: chat completions in which `model` names an agent, not a model. `openclaw` is the gateway's own
 * default agent, `openclaw:<id>` one of its agents, said in a header too, as gateways of every version understand it.
 * Each request is a session of its own. The form of an object is asked for in words: an agent knows no schema.
 */
export function openclaw(remote: Remote): Provider {
  const dialect = { remote, path: pathBelow(remote.url), bodies: createRequestBodies('none') }
  return providerOverHttp(remote, (call, request) => {
    const agent = agentOf(remote, request)
    const { backend_model, ...params } = request.params
    const model = agent === undefined ? 'openclaw' : `openclaw:${agent}`
    const headers = {
      ...(agent === undefined ? {} : { 'x-openclaw-agent-id': agent }),
      ...(backend_model === undefined ? {} : { 'x-openclaw-model': backendOf(remote, backend_model) }),
    }
    return askCompletions(dialect, call, { ...request, model, params }, headers)
  })
}

/** Its documents give the address of the gateway alone; one with /v1 is meant the same. */
function pathBelow(url: string): string {
  return /\/v1\/?$/.test(new URL(url).pathname) ? '/chat/completions' : '/v1/chat/completions'
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
