import type { Decision } from '../../shared/api/control-routes.ts'
import { canonicalJson, type Json } from '../../shared/canonical.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { fitsPort } from '../../shared/runs/resolve-inputs.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../runs/read-pinned.ts'

/** As of the values a run starts with. */
const MOST_BYTES = 204_800

/**
 * The inputs a person changes as they approve, as canonical JSON: only ports the block lets be edited, of the port's
 * type, 200 KiB together. Fault InvalidInput invalid_edits (422) lists all that is wrong; edits_too_large (413).
 */
export async function checkEdits(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  { id, block, edit = [] }: ApprovalItem,
  { decision, edits = {} }: Decision,
): Promise<string> {
  if (decision !== 'approve') throw invalid(id, [{ path: 'edits', message: `A ${decision} takes no edits.` }])
  const { dag } = await readPinned(world, run)
  const issues = Object.entries(edits).flatMap(([port, value]): readonly Issue[] => {
    const path = `edits.${port}`
    if (!edit.includes(port)) {
      const allowed = edit.length === 0 ? 'none may be edited' : `${edit.join(', ')} may be edited`
      return [{ path, message: `Input "${port.slice(0, 80)}" may not be edited; ${allowed}.` }]
    }
    const type = dag.blocks[block]?.inputs[port]?.type ?? 'json'
    if (value !== null && fitsPort(type, value)) return []
    return [{ path, message: `Input "${port}" must be ${type}, got ${nameOf(value)}.` }]
  })
  if (issues.length > 0) throw invalid(id, issues)
  const text = canonicalJson(edits)
  const bytes = Buffer.byteLength(text)
  if (bytes <= MOST_BYTES) return text
  const message = `Cannot decide approval "${id}": the edits have ${bytes} bytes, at most ${MOST_BYTES} are allowed. Put large values into files.`
  throw new Fault('InvalidInput', 'edits_too_large', message, { status: 413 })
}

function invalid(id: string, issues: readonly Issue[]): Fault {
  const words = issues.length === 1 ? issues[0]?.message : `${issues.length} edits are wrong.`
  const message = `Cannot decide approval "${id}": ${words}`
  return new Fault('InvalidInput', 'invalid_edits', message, { status: 422, issues: issues.slice(0, 20) })
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
