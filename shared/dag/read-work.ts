import type { Json } from '../canonical.ts'
import type { Agent, ApprovalPolicy } from './dag.ts'
import { isLater } from './not-yet.ts'
import { readAgent } from './read-agent.ts'
import { readHandler } from './read-handler.ts'
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
      if (block.agent === undefined) missingSection(reading, path, mode, 'agent')
      else return readAgent(reading, block.agent, [...path, 'agent'])
      return undefined
    case 'deterministic':
      if (block.deterministic === undefined) missingSection(reading, path, mode, 'deterministic')
      else return readHandler(reading, block.deterministic, [...path, 'deterministic'])
      return undefined
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
    return { text, hint: didYouMean(near) }
  }
  problems.push({ code: 'unknown_mode', path, say })
}

function isNobody(approval: Json | undefined): boolean {
  if (approval === undefined || approval === false) return true
  return typeof approval === 'object' && approval !== null && (approval as Mapping).required === false
}
