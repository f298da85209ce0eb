import type { Json } from '../canonical.ts'
import { HANDLERS } from '../handlers.ts'
import type { Agent, ApprovalPolicy } from './dag.ts'
import { isLater } from './not-yet.ts'
import { type Mapping, type Reading, readSection } from './read-section.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { suggest } from './suggest.ts'
import { listed, quoted, shown } from './wording.ts'

/** What a block does: the part of it that depends on its mode. */
export type Work =
  | { readonly mode: 'ai'; readonly agent: Agent }
  | { readonly mode: 'deterministic'; readonly handler: string; readonly config: Mapping }
  | { readonly mode: 'approval'; readonly approval: ApprovalPolicy }

const MODES = ['ai', 'deterministic', 'approval'] as const

/** Reads the section its mode asks for; `undefined` when that is wrong, missing, or of a mode that comes later. */
export function readWork(
  reading: Reading,
  block: Mapping,
  path: Path,
  approval: ApprovalPolicy | undefined,
): Work | undefined {
  const { mode = 'ai' } = block
  if (isLater('block', 'mode', mode)) return undefined
  if (mode !== 'deterministic') refuseSection(reading, block, path, mode)
  switch (mode) {
    case 'ai':
      return readAgent(reading, block, [...path, 'agent'])
    case 'deterministic':
      return readDeterministic(reading, block, [...path, 'deterministic'])
    case 'approval':
      if (approval !== undefined) return { mode, approval }
      // A section that is there but wrong is a problem already.
      if (isNobody(block.approval)) missingSection(reading, path, mode, 'approval')
      return undefined
    default:
      refuseMode(reading, mode, [...path, 'mode'])
      return undefined
  }
}

function readAgent(reading: Reading, block: Mapping, path: Path): Work | undefined {
  if (block.agent === undefined) {
    missingSection(reading, path.slice(0, -1), 'ai', 'agent')
    return undefined
  }
  const section = readSection(reading, SECTIONS.agent, block.agent, path, 'agent')
  if (section === undefined) return undefined
  const { provider, model, prompt, system, model_params = {} } = section
  if (refuseRouting(reading, block.agent, path)) return undefined
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
    return { text, hint: near === undefined ? 'Add it to sluice.yaml.' : `Did you mean "${near}"?` }
  }
  problems.push({ code: 'unknown_provider', path, say })
}

function readDeterministic(reading: Reading, block: Mapping, path: Path): Work | undefined {
  if (block.deterministic === undefined) {
    missingSection(reading, path.slice(0, -1), 'deterministic', 'deterministic')
    return undefined
  }
  const section = readSection(reading, SECTIONS.deterministic, block.deterministic, path, 'deterministic')
  if (section?.handler === undefined) return undefined
  const known = Object.entries(HANDLERS).find(([name]) => name === section.handler)
  if (known === undefined) {
    refuseHandler(reading, section.handler, [...path, 'handler'])
    return undefined
  }
  const [handler, schema] = known
  const config = readSection(reading, schema, section.config ?? {}, [...path, 'config'])
  // The schemas of handlers accept JSON only.
  return config === undefined ? undefined : { mode: 'deterministic', handler, config: config as Mapping }
}

function refuseHandler({ problems }: Reading, handler: string, path: Path): void {
  const say: Problem['say'] = ({ who }) => {
    const names = Object.keys(HANDLERS)
    const near = suggest(handler, names)
    const text = `${who} uses the unknown handler ${quoted(handler)}; known are ${listed(names)}`
    return { text, hint: near === undefined ? undefined : `Did you mean "${near}"?` }
  }
  problems.push({ code: 'unknown_handler', path, say })
}

/** A section that would be passed over in silence: its author meant the mode. */
function refuseSection({ problems }: Reading, block: Mapping, path: Path, mode: Json): void {
  if (block.deterministic === undefined) return
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has a section "deterministic", but its mode is ${shown(mode)}`,
    hint: 'Add mode: deterministic, or remove the section.',
  })
  problems.push({ code: 'mode_mismatch', path: [...path, 'deterministic'], on: 'key', say })
}

function missingSection({ problems }: Reading, path: Path, mode: string, section: string): void {
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} is of mode "${mode}", but has no section "${section}"`,
    hint: HINTS[section],
  })
  problems.push({ code: 'missing_section', path, say })
}

const HINTS: Readonly<Record<string, string>> = {
  agent: 'Add agent: { provider: .., model: .. }.',
  deterministic: 'Add deterministic: { handler: .. }.',
  approval: 'Add approval: { prompt: .. }, or approval: true.',
}

function refuseMode({ problems }: Reading, mode: Json, path: Path): void {
  const say: Problem['say'] = ({ who }) => {
    const near = typeof mode === 'string' ? suggest(mode, MODES) : undefined
    const text = `${who} has the unknown mode ${shown(mode)}; allowed are ${listed(MODES)}`
    return { text, hint: near === undefined ? undefined : `Did you mean "${near}"?` }
  }
  problems.push({ code: 'unknown_mode', path, say })
}

function isNobody(approval: Json | undefined): boolean {
  if (approval === undefined || approval === false) return true
  return typeof approval === 'object' && approval !== null && (approval as Mapping).required === false
}
