import type { Block, GateUse } from '../../dag/dag.ts'
import { withFileTexts } from '../../gates/file-texts.ts'
import type { GateFacts } from '../../gates/gate.ts'
import { inputHash } from '../../gates/judge.ts'
import { replayVerdict } from '../../gates/replay-verdict.ts'
import type { RunEvent } from '../event.ts'
import { itemBlock } from '../foreach-items.ts'
import { invariant } from './invariant.ts'
import { nameOf, type Pass, passesOf } from './passes.ts'
import { recordedFacts } from './recorded-facts.ts'
import type { RunParts } from './stored-run.ts'

type Judged = Extract<RunEvent, { readonly type: 'block:gate' }>
type Parts = Pick<RunParts, 'events' | 'dag' | 'meta' | 'context' | 'read' | 'isolate'>

export const verdictsAgain = invariant({
  n: 12,
  title: 'every verdict of a pure gate comes out again from the recorded inputs',
  of: 'objects',
  needs: ['events', 'dag', 'meta', 'context', 'read', 'isolate'],
  async check(run) {
    const wrong: string[] = []
    for (const pass of passesOf(run.events)) {
      const block = run.dag.blocks.find(({ id }) => id === pass.block_id)
      if (block !== undefined) wrong.push(...(await passProblems(run, pass, block)))
    }
    return wrong
  },
})

async function passProblems(run: Parts, pass: Pass, block: Block): Promise<readonly string[]> {
  const attempts = Map.groupBy(
    pass.events.filter((event) => event.type === 'block:gate'),
    ({ attempt }) => attempt,
  )
  const wrong: string[] = []
  for (const [attempt, judged] of attempts) {
    const facts = await recordedFacts(run, pass, block, attempt)
    if (facts.kind === 'wrong') wrong.push(`${nameOf(pass)}: ${facts.problem}`)
    if (facts.kind !== 'known') continue
    for (const event of judged) wrong.push(...(await again(run, pass, block, event, facts)))
  }
  return wrong
}

async function again(
  { isolate, read }: Parts,
  pass: Pass,
  block: Block,
  { seq, data }: Judged,
  facts: { readonly pre: GateFacts; readonly post: GateFacts },
): Promise<readonly string[]> {
  const use = useOf(pass, block, data)
  // A check of time is judged at a moment no event tells; one that could not be carried out may be so again.
  if (use === undefined || data.status === 'error' || looksAtTheClock(use, facts[data.phase])) return []
  const { status, reason, input_hash, facts: found } = data
  const recorded = { status, reason, input_hash, facts: found }
  const seen = await withFileTexts(block, facts[data.phase], read)
  const now = await replayVerdict(recorded, use, seen, { isolate })
  // Until gates looked at the text of files they looked at the refs; verdicts of such runs still stand.
  const replay = now === 'other_input' ? await replayVerdict(recorded, use, facts[data.phase], { isolate }) : now
  if (replay === 'same' || replay === 'recorded') return []
  const why = replay === 'different' ? 'comes out otherwise' : 'is not of these values'
  return [`${nameOf(pass)}: the verdict of gate "${data.gate}" (event ${seq}) ${why}`]
}

/** The gates of a task's move are their handler's, which has its own words for them. */
function useOf({ item }: Pass, block: Block, { gate, phase }: Judged['data']): GateUse | undefined {
  const judged = item === undefined || block.foreach === undefined ? block : itemBlock(block, block.foreach)
  return (phase === 'pre' ? judged.pre_gates : judged.post_gates).find(({ name }) => name === gate)
}

function looksAtTheClock({ check }: GateUse, facts: GateFacts): boolean {
  const [one, other] = ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']
  return inputHash(check, { ...facts, at: one }) !== inputHash(check, { ...facts, at: other })
}
