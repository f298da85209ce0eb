import type { Json } from '../canonical.ts'
import { HANDLERS_BEYOND_PORTS } from '../handlers.ts'
import type { Agent, ApprovalPolicy, ChildDag, Research } from './dag.ts'
import { readAgent } from './read-agent.ts'
import { readChild } from './read-child.ts'
import { readHandler } from './read-handler.ts'
import type { Ports } from './read-ports.ts'
import { readResearch } from './read-research.ts'
import type { Mapping, Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, shown } from './wording.ts'

/** What a block does: the part of it that depends on its mode. */
export type Work =
  | { readonly mode: 'ai'; readonly agent: Agent }
  | { readonly mode: 'deterministic'; readonly handler: string; readonly config: Mapping }
  | { readonly mode: 'approval'; readonly approval: ApprovalPolicy }
  | { readonly mode: 'dag'; readonly dag: ChildDag }
  | { readonly mode: 'research'; readonly research: Research }

/** Modes with a section of their own, and who reads it. */
const READERS = {
  ai: { section: 'agent', read: readAgent },
  deterministic: { section: 'deterministic', read: readHandler },
  dag: { section: 'dag', read: readChild },
  research: { section: 'research', read: readResearch },
} as const
const MODES = [...Object.keys(READERS), 'approval']

/** Reads the section its mode asks for; `undefined` when that is wrong or missing. */
export function readWork(
  reading: Reading,
  block: Mapping,
  path: Path,
  { approval, outputs }: { readonly approval: ApprovalPolicy | undefined; readonly outputs: Ports },
): Work | undefined {
  const { mode = 'ai' } = block
  for (const section of SECTIONS_OF_MODES) if (mode !== section) refuseSection(reading, block, path, section)
  if (mode === 'approval') {
    if (approval !== undefined) return { mode, approval }
    // A section that is there but wrong is a problem already.
    if (isNobody(block.approval)) missingSection(reading, path, mode, 'approval')
    return undefined
  }
  if (!isMode(mode)) {
    refuseMode(reading, mode, [...path, 'mode'])
    return undefined
  }
  const { section, read } = READERS[mode]
  const given = block[section]
  if (given !== undefined) {
    const work = read(reading, given, [...path, section], outputs)
    if (work?.mode === 'deterministic') refuseCache(reading, block, path, work.handler)
    return work
  }
  missingSection(reading, path, mode, section)
  return undefined
}

const SECTIONS_OF_MODES = ['deterministic', 'dag', 'research'] as const

function isMode(mode: Json): mode is keyof typeof READERS {
  return typeof mode === 'string' && Object.hasOwn(READERS, mode)
}

/** A section that would be passed over in silence: its author meant the mode. */
function refuseSection({ problems }: Reading, block: Mapping, path: Path, section: string): void {
  if (block[section] === undefined) return
  const { mode = 'ai' } = block
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has a section "${section}", but its mode is ${shown(mode)}`,
    hint: `Add mode: ${section}, or remove the section.`,
  })
  problems.push({ code: 'mode_mismatch', path: [...path, section], on: 'key', say })
}

/** Of a handler that looks at its run, or changes its context, the inputs do not say what it would answer. */
function refuseCache({ problems }: Reading, block: Mapping, path: Path, handler: string): void {
  if (block.cache === undefined || HANDLERS_BEYOND_PORTS[handler] !== 'run') return
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has "cache", which does not go with the handler "${handler}"`,
    hint: 'Remove it: what that handler does is more than its inputs say.',
  })
  problems.push({ code: 'mode_mismatch', path: [...path, 'cache'], on: 'key', say })
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
  dag: 'Add dag: { name: .. }.',
  research: 'Add research: { topic: .. }.',
}

function refuseMode({ problems }: Reading, mode: Json, path: Path): void {
  const say: Problem['say'] = ({ who }) => {
    const near = typeof mode === 'string' ? suggest(mode, MODES) : undefined
    const text = `${who} has the unknown mode ${shown(mode)}; allowed are ${listed(MODES)}`
    return { text, hint: didYouMean(near) }
  }
  problems.push({ code: 'unknown_mode', path, say })
}

function isNobody(approval: Json | undefined): boolean {
  if (approval === undefined || approval === false) return true
  return typeof approval === 'object' && approval !== null && (approval as Mapping).required === false
}
