import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GateFacts } from '../../../shared/gates/gate.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { gateTypes } from '../../../shared/gates/registry.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { atMost } from '../../how-much.ts'
import { anyCheck, anyFacts, expectWhole, judgeAny } from './any-check.ts'

/** Checks of every kind, alone, negated and within each other; those that would not parse are left out. */
const anyLeaf = fc.oneof(...gateTypes().map(anyCheck)).filter((check) => parseCheck(check).ok)
type Tree = Readonly<Record<string, Json>>
const { tree } = fc.letrec<{ tree: Tree }>((tie) => {
  const parts = fc.array(tie('tree'), { minLength: 1, maxLength: 3 })
  const not = fc.boolean()
  const composed = fc.oneof(
    fc.record({ any_of: parts, not }),
    fc.record({ all_of: parts, not }),
    fc
      .record({ of: parts, not })
      .chain((made) => fc.integer({ min: 1, max: made.of.length }).map((at_least) => ({ at_least, ...made }))),
  )
  const leaf = fc.tuple(anyLeaf, not).map(([check, not]) => ({ ...check, not }) as Tree)
  return { tree: fc.oneof({ depthSize: 'small', maxDepth: 3 }, leaf, composed) }
})

/** The rules once more, in other words: what holds, what does not, and what was not judged, from the verdicts of the leaves. */
async function expected(check: Tree, given: GateFacts): Promise<'yes' | 'no' | 'failed' | 'error'> {
  const parts = check.any_of ?? check.all_of ?? check.of
  const plain = Array.isArray(parts)
    ? await ofParts(check, parts as readonly Tree[], given)
    : await ofLeaf(check, given)
  if (check.not !== true || plain === 'failed' || plain === 'error') return plain
  return plain === 'yes' ? 'no' : 'yes'
}

async function ofParts(check: Tree, parts: readonly Tree[], given: GateFacts) {
  const seen = await Promise.all(parts.map((part) => expected(part, given)))
  const wanted = check.any_of !== undefined ? 1 : check.all_of !== undefined ? parts.length : Number(check.at_least)
  const possible = seen.filter((one) => one !== 'no').length
  if (seen.filter((one) => one === 'yes').length >= wanted) return 'yes'
  if (possible < wanted) return 'no'
  return seen.includes('error') ? 'error' : 'failed'
}

async function ofLeaf({ not: _, ...check }: Tree, given: GateFacts) {
  const verdict = await judgeAny(check, given)
  if (verdict?.status === 'passed') return 'yes'
  if (verdict?.status === 'error') return 'error'
  return (await judgeAny({ ...check, not: true }, given))?.passed === true ? 'no' : 'failed'
}

test('any composition of any checks is what its parts make it, the same a thousand times', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(tree, anyFacts, async (check, given) => {
      const verdict = await judgeAny(check, given)
      if (verdict === undefined) throw new Error(`does not parse: ${JSON.stringify(check)}`)
      expectWhole(verdict)
      expect(await judgeAny(structuredClone(check), structuredClone(given))).toEqual(verdict)
      // What is not JSON has no hash, so nothing passes on it: the parts alone do not say what comes of it.
      if (!isJson(given)) return
      const answer = await expected(check, given)
      seen.add(answer)
      expect([verdict.status, check]).toEqual([{ yes: 'passed', no: 'failed' }[answer as 'yes'] ?? answer, check])
    }),
    { numRuns: atMost(1_000, 250) },
  )
  expect(seen.size).toBe(4)
}, 60_000)

function isJson(given: GateFacts): boolean {
  try {
    return canonicalJson(given) !== ''
  } catch {
    return false
  }
}
