import { didYouMean, suggest } from './dag/suggest.ts'
import { listed } from './dag/wording.ts'
import type { Issue } from './errors.ts'
import { PLACE_PROVIDERS } from './provider.ts'
import { EMBEDDING_TYPES } from './provider-settings.ts'

/**
 * What is wrong between providers and who names one, an agent, the research chain, its embeddings or its judge: it is one that is
 * configured (PLACE_PROVIDERS always are) and, where that lists its models, one of them. Takes the settings as they were read, so
 * that these are told together with mistakes of shape.
 */
export function agentIssues(settings: unknown): readonly Issue[] {
  const providers = memberOf(settings, 'providers')
  const known = [...new Set([...PLACE_PROVIDERS, ...keysOf(providers)])]
  const agents = memberOf(settings, 'agents')
  const asking = [
    ...keysOf(agents).map((name) => [`agents.${name}`, memberOf(agents, name)] as const),
    ['research', memberOf(settings, 'research')] as const,
    [EMBEDDINGS, memberOf(memberOf(settings, 'research'), 'embeddings')] as const,
    ['research.judge', memberOf(memberOf(settings, 'research'), 'judge')] as const,
  ]
  return asking.flatMap(([path, agent]) => {
    const provider = memberOf(agent, 'provider')
    if (typeof provider !== 'string') return []
    if (known.includes(provider)) {
      const configured = memberOf(providers, provider)
      return [...modelIssues(path, agent, configured), ...embeddingIssues(path, provider, configured)]
    }
    return [refusal(`${path}.provider`, 'No such provider', provider, known)]
  })
}

const EMBEDDINGS = 'research.embeddings'

function embeddingIssues(path: string, name: string, provider: unknown): readonly Issue[] {
  const type = memberOf(provider, 'type') ?? name
  if (path !== EMBEDDINGS || typeof type !== 'string' || EMBEDDING_TYPES.includes(type)) return []
  const message = `Providers of type "${type}" have no embeddings; those of ${listed(EMBEDDING_TYPES)} have`
  return [{ path: `${path}.provider`, message }]
}

function modelIssues(path: string, agent: unknown, provider: unknown): readonly Issue[] {
  const models = memberOf(provider, 'models')
  const model = memberOf(agent, 'model')
  if (!Array.isArray(models) || typeof model !== 'string' || models.includes(model)) return []
  const texts = models.filter((text) => typeof text === 'string')
  return [refusal(`${path}.model`, 'Not one of the models its provider lists', model, texts)]
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
