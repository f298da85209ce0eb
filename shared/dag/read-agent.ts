import type { Json } from '../canonical.ts'
import type { Agent, AgentRoute } from './dag.ts'
import { findAgent } from './find-agent.ts'
import { readSection } from './read-section.ts'
import type { Mapping, Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import { type Path, pathText } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

/** Who does the work of an ai block; `undefined` when that is wrong or not said. */
export function readAgent(
  reading: Reading,
  given: Json,
  path: Path,
): { readonly mode: 'ai'; readonly agent: Agent } | undefined {
  const section = readSection(reading, SECTIONS.agent, given, path)
  if (section === undefined) return undefined
  const { provider, model, model_params = {} } = section
  const isNamed = provider !== undefined && model !== undefined
  const route = readRoute(reading, section, path, isNamed)
  if (provider !== undefined) checkProvider(reading, provider, [...path, 'provider'])
  // What is not named is empty until the route is bound to an agent of sluice.yaml.
  const agent = { provider: provider ?? '', model: model ?? '', ...route, ...textsOf(section) }
  if (isNamed || route.route !== undefined) checkFound(reading, agent, path)
  else refuseNobody(reading, given, path)
  return { mode: 'ai', agent: { ...agent, model_params: model_params as Mapping } }
}

function textsOf({ prompt, system }: Loose<Pick<Agent, 'prompt' | 'system'>>): Pick<Agent, 'prompt' | 'system'> {
  return { ...(prompt === undefined ? {} : { prompt }), ...(system === undefined ? {} : { system }) }
}

/** As a section answers it: what is absent is undefined. */
type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** How its agent is found; beside both names that has no effect. */
function readRoute(
  { warnings }: Reading,
  { role, capability, specific }: Loose<AgentRoute>,
  path: Path,
  isNamed: boolean,
): Pick<Agent, 'route'> {
  const route = {
    ...(role === undefined ? {} : { role }),
    ...(capability === undefined ? {} : { capability }),
    ...(specific === undefined ? {} : { specific }),
  }
  if (Object.keys(route).length === 0) return {}
  if (!isNamed) return { route }
  const at = pathText(path)
  const message = `"role", "capability" and "specific" of ${at} have no effect, since it names provider and model.`
  warnings.push({ code: 'route_without_effect', path: at, message })
  return {}
}

/** Neither named nor described. A key that is there but wrong is a problem already. */
function refuseNobody({ problems }: Reading, agent: Json, path: Path): void {
  const given = (key: string) => typeof agent === 'object' && agent !== null && Object.hasOwn(agent, key)
  if (['role', 'capability', 'specific'].some(given)) return
  for (const key of ['provider', 'model'].filter((key) => !given(key))) {
    const hint = `Add "${key}", or let an agent of sluice.yaml be found by "role", "capability" or "specific".`
    problems.push({
      code: 'missing_key',
      path: [...path, key],
      say: ({ place }) => ({ text: `${place} is missing`, hint }),
    })
  }
}

/** Somebody does the work, and with a model its provider has: judged when the agents of the place are known. */
function checkFound({ problems, routing }: Reading, agent: Pick<Agent, 'provider' | 'model' | 'route'>, path: Path) {
  const found = routing === undefined ? undefined : findAgent(agent, routing)
  if (found === undefined || found.ok) return
  const { code, text, hint } = found
  problems.push({ code, path, say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
}

function checkProvider({ problems, providers }: Reading, provider: string, path: Path): void {
  if (providers === undefined || provider === 'local' || providers.includes(provider)) return
  const known = [...new Set([...providers, 'local'])]
  const say: Problem['say'] = ({ who }) => {
    const near = suggest(provider, known)
    const text = `${who} uses provider ${quoted(provider)}, which is not configured; configured are ${listed(known)}`
    return { text, hint: didYouMean(near) ?? 'Add it to sluice.yaml.' }
  }
  problems.push({ code: 'unknown_provider', path, say })
}
