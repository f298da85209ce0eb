import { didYouMean, suggest } from './dag/suggest.ts'
import { listed } from './dag/wording.ts'
import type { Issue } from './errors.ts'

/**
 * What is wrong between agents and providers: an agent may name only a provider that is configured (`local` always is)
 * and, where that lists its models, only one of them. Takes the settings as they were read, so that these are told
 * together with mistakes of shape.
 */
export function agentIssues(settings: unknown): readonly Issue[] {
  const providers = memberOf(settings, 'providers')
  const known = [...new Set(['local', ...keysOf(providers)])]
  const agents = memberOf(settings, 'agents')
  return keysOf(agents).flatMap((name) => {
    const agent = memberOf(agents, name)
    const provider = memberOf(agent, 'provider')
    if (typeof provider !== 'string') return []
    if (known.includes(provider)) return modelIssues(name, agent, memberOf(providers, provider))
    return [refusal(`agents.${name}.provider`, 'No such provider', provider, known)]
  })
}

function modelIssues(name: string, agent: unknown, provider: unknown): readonly Issue[] {
  const models = memberOf(provider, 'models')
  const model = memberOf(agent, 'model')
  if (!Array.isArray(models) || typeof model !== 'string' || models.includes(model)) return []
  const texts = models.filter((text) => typeof text === 'string')
  return [refusal(`agents.${name}.model`, 'Not one of the models its provider lists', model, texts)]
}

function refusal(path: string, message: string, seen: string, allowed: readonly string[]): Issue {
  const hint = didYouMean(suggest(seen, allowed))
  return { path, message: `${message}; allowed: ${listed(allowed)}`, ...(hint === undefined ? {} : { hint }) }
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string, unknown>>)[key]
}
