import type { Json } from '../canonical.ts'
import type { Agent } from './dag.ts'
import { readSection } from './read-section.ts'
import type { Mapping, Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

/** Who does the work of an ai block; `undefined` when that is wrong or not said. */
export function readAgent(
  reading: Reading,
  given: Json,
  path: Path,
): { readonly mode: 'ai'; readonly agent: Agent } | undefined {
  const section = readSection(reading, SECTIONS.agent, given, path, 'agent')
  if (section === undefined) return undefined
  const { provider, model, prompt, system, model_params = {} } = section
  if (refuseRouting(reading, given, path)) return undefined
  if (provider !== undefined) checkProvider(reading, provider, [...path, 'provider'])
  if (provider === undefined || model === undefined) return undefined
  const texts = { ...(prompt === undefined ? {} : { prompt }), ...(system === undefined ? {} : { system }) }
  return { mode: 'ai', agent: { provider, model, ...texts, model_params: model_params as Mapping } }
}

/** Provider and model are named in this version: an agent that is only described is found in a later one. */
function refuseRouting({ problems }: Reading, agent: Json, path: Path): boolean {
  const given = (key: string) => typeof agent === 'object' && agent !== null && Object.hasOwn(agent, key)
  const route = given('provider') ? undefined : ['role', 'capability', 'specific'].find(given)
  if (route !== undefined) {
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} finds its agent by "${route}", which is not supported yet`,
      hint: 'Name "provider" and "model" for now.',
    })
    problems.push({ code: 'not_yet_supported', path: [...path, route], on: 'key', say })
    return true
  }
  for (const key of ['provider', 'model'].filter((key) => !given(key))) {
    const say: Problem['say'] = ({ place }) => ({ text: `${place} is missing`, hint: `Add "${key}".` })
    problems.push({ code: 'missing_key', path: [...path, key], say })
  }
  return false
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
