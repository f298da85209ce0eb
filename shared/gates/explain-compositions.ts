import { COMPOSITIONS, PART_LIMITS } from './compositions.ts'
import { atLeast, negate, type Outcome } from './gate-algebra.ts'

/** What `sluice gates explain` knows besides the types. */
export const COMPOSITION_NAMES: readonly string[] = ['not', ...Object.keys(COMPOSITIONS)]

/** How checks are negated and put together, as Markdown; the table is what the rules answer. */
export function explainCompositions(): string {
  return [
    '## not, any_of, all_of, at_least',
    '',
    'Wherever a check stands, it may be negated, or composed of others:',
    '',
    '```yaml',
    ...EXAMPLES,
    '```',
    '',
    ...Object.entries(COMPOSITIONS).map(([key, { words }]) => `- \`${key}\`: ${words}`),
    '- `not: true`: turns what was judged round, of a type or of a composition.',
    '',
    `They nest, ${PART_LIMITS.depth} levels deep, with at most ${PART_LIMITS.leaves} checks of types in one gate. All of them are judged, and the reason names those that decided. A check comes to one of four:`,
    '',
    '- pass, fail: it was judged.',
    '- unfit: there was nothing to judge: a port that is missing, null or NaN, a type the check does not read, a cost or a time nobody knows, more than the check reads. The verdict is `failed`, and so is the negated one: nothing passes on nothing.',
    '- error: it could not be carried out. The verdict is `error`, negated too.',
    '',
    '| a     | b     | not a | any_of | all_of |',
    '| ----- | ----- | ----- | ------ | ------ |',
    ...PAIRS.map(([a, b]) => `| ${row([a, b, negate(a), atLeast(1, [a, b]), atLeast(2, [a, b])])} |`),
    '',
    '`at_least: k` passes as soon as `k` pass and fails as soon as too many fail, whatever the others are; `any_of` is `at_least: 1`, `all_of` wants all. De Morgan holds: not any_of(a, b) is all_of(not a, not b).',
  ].join('\n')
}

/** A document of its own, so that it is read by a test like every other one. */
const EXAMPLES = [
  'blocks:',
  '  - id: plan',
  '    outputs: { plan: string, notes: { type: string, required: false } }',
  '    agent: { provider: local, model: outline }',
  '    post_gates:',
  '      - { name: sure, check: { type: contains, port: plan, values: [maybe], not: true } }',
  '      - { name: some, check: { any_of: [{ type: not_empty, port: plan }, { type: not_empty, port: notes }] } }',
  '      - name: two-of-three',
  '        check:',
  '          at_least: 2',
  '          of:',
  '            - { type: min_length, port: plan, min: 200 }',
  '            - { type: cost, max: 0.05 }',
  '            - { all_of: [{ type: word_count, port: plan, max: 500 }, { type: is_refusal, port: plan }] }',
]

const OUTCOMES: readonly Outcome[] = ['pass', 'fail', 'unfit', 'error']
const PAIRS = OUTCOMES.flatMap((a, at) => OUTCOMES.slice(at).map((b) => [a, b] as const))

/** Padded like the head of the table. */
function row([a, b, not, any, all]: readonly [Outcome, Outcome, Outcome, Outcome, Outcome]): string {
  return [a.padEnd(5), b.padEnd(5), not.padEnd(5), any.padEnd(6), all.padEnd(6)].join(' | ')
}
