import { describe, expect, test } from 'vitest'
import { OPERATORS } from '../../../shared/goals/criteria/metric-threshold.ts'
import { CRITERION_KINDS } from '../../../shared/goals/criteria/registry.ts'
import { MARKER_TYPES } from '../../../shared/goals/marker.ts'
import { QUALITY_RULES } from '../../../shared/goals/quality.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { DECISION_TABLE, TRUST_BANDS } from '../../../shared/goals/two-gates.ts'
import { CLAIM_WEIGHTS, REJECTED_FINDING_COSTS } from '../../../shared/goals/verify-claims.ts'
import { evaluated } from './evaluated.ts'
import { EXAMPLE_CONTRACTS } from './example-contracts.ts'

describe.each(EXAMPLE_CONTRACTS)('the example "$title"', ({ yaml: contract, output, files, quality }) => {
  test('is met by its evidence', () => {
    const { completion } = evaluated({ contract, output, files, quality })
    expect(completion).toMatchObject({ final_status: 'SUCCESS', warnings: [] })
    expect(['standard', 'ml']).toContain(quality)
  })

  test('is not met when any criterion loses its evidence', () => {
    const read = readGoalContract(contract)
    if (!read.ok) throw new Error('not valid')
    const lines = output.split('\n')
    const without = lines.map((_, index) => lines.toSpliced(index, 1).join('\n'))
    const fewer = without.map((text) => evaluated({ contract, output: text, files, quality }).completion)
    expect(fewer.map(({ final_status }) => final_status)).toEqual(lines.map(() => 'PARTIAL'))
    const ids = fewer.flatMap(({ criteria }) => criteria.filter(({ status }) => status !== 'MET').map(({ id }) => id))
    const noFiles = evaluated({ contract, output, quality }).completion.criteria.filter(
      ({ status }) => status !== 'MET',
    )
    const lost = new Set([...ids, ...noFiles.map(({ id }) => id)])
    expect([...lost].toSorted()).toEqual(read.contract.acceptance_criteria.map(({ id }) => id).toSorted())
  })
})

test('docs/goal-gates.md is what the table and the registries say (vitest -u writes it anew)', async () => {
  const parts = [
    HEAD,
    decisions(),
    CONTRACT,
    kinds(),
    examples(),
    MARKERS,
    markers(),
    trust(),
    quality(),
    ATTEMPTS,
    RUNS,
    LINES,
  ]
  await expect(`${parts.join('\n\n')}\n`).toMatchFileSnapshot('../../../docs/goal-gates.md')
})

function decisions(): string {
  const rows = DECISION_TABLE.map(({ trust, goal, final, action, without_quality: flawed }) => {
    const without = flawed === undefined ? 'the same' : `${flawed.final}, ${flawed.action}`
    return [trust, goal, final, action, without]
  })
  return table(['trust', 'goal', 'outcome', 'next', 'with failed quality'], rows)
}

function kinds(): string {
  return CRITERION_KINDS.map(({ kind, summary, example }) => {
    const ops =
      kind === 'metric_threshold'
        ? ` \`op\` is ${OPERATORS.join(', ')}; \`tolerance\` (default 0) favours the metric.`
        : ''
    const fields = Object.entries(example).map(
      ([key, value]) => `${key}: ${key === 'id' || key === 'kind' ? value : JSON.stringify(value)}`,
    )
    return `### ${kind}\n\n${summary}${ops}\n\n\`\`\`yml\n- { ${fields.join(', ')} }\n\`\`\``
  }).join('\n\n')
}

function examples(): string {
  const all = EXAMPLE_CONTRACTS.map(({ title, about, yaml, quality }) => {
    const profile = quality === 'ml' ? ' Its quality profile is `ml`.' : ''
    return `### ${title}\n\n${about}${profile}\n\n\`\`\`yml\n${yaml}\`\`\``
  })
  return `## Contracts for common work\n\n${EXAMPLES}\n\n${all.join('\n\n')}`
}

function markers(): string {
  return table(
    ['marker', 'says'],
    [...MARKER_TYPES].map(([type, says]) => [`\`${type}\``, says]),
  )
}

function trust(): string {
  const bands = TRUST_BANDS.map(([band, lowest]) => [band, `from ${lowest}`, band === 'VERIFIED' ? 'PASS' : 'FAIL'])
  const parts = Object.entries(CLAIM_WEIGHTS).map(([part, points]) => [
    part.replaceAll('_', ' '),
    String(points),
    PARTS[part] ?? '',
  ])
  const score = `${VERIFY}\n\n${table(['part', 'points', 'is the share of'], parts)}\n\nEach rejected finding costs ${REJECTED_FINDING_COSTS} points. ${AFTER_SCORE}`
  return `${TRUST}\n\n${table(['band', 'score', 'gate'], bands)}\n\n${score}`
}

function quality(): string {
  const rows = QUALITY_RULES.map(({ code, penalty, profile, summary }) => [
    `\`${code}\``,
    profile,
    String(penalty),
    summary,
  ])
  return `${QUALITY}\n\n${table(['violation', 'profile', 'off', 'when'], rows)}`
}

/** As the formatter would have it: columns padded to their widest cell. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) => Math.max(3, title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const PARTS: Readonly<Record<string, string>> = {
  statistical_rigor: 'intervals and effect sizes of findings that are there, readable and possible',
  evidence_quality: 'quotations, cited sources and artifacts of findings that are stored as they are named',
  metric_verification: 'metrics that are numbers, and of metrics stated in findings that equal the last measurement',
  completeness: 'OBJECTIVE, DATA, FINDING, CONCLUSION that say something',
  methodology: 'HYPOTHESIS or OBJECTIVE, EXPERIMENT or ANALYSIS, LIMITATION that say something',
}

const HEAD = `# Two-gate completion

Made from the decision table and the registries (\`shared/goals\`).

Good evidence is not the same as a reached goal. A model with 75 % accuracy may be measured perfectly and still not be the model with 90 % that was asked for. So two gates are judged, always both:

- The **trust gate**: is the evidence to be believed? A verifier that did not do the work gives a score from 0 to 100; 80 passes.
- The **goal gate**: do the acceptance criteria of the **goal contract** hold, going by the evidence and by nothing else?

**Quality gates** look at the form of the evidence. A run ends SUCCESS only when all three pass. Gates only downgrade: a run that claims PARTIAL, BLOCKED, FAILED or ABORTED keeps that or gets worse, and then nothing is done next. A gate that crashes has failed.

[Runs](#runs) are judged so when they have a goal; \`sluice goal evaluate\`, \`sluice goal validate\` and \`sluice goal decide\` do the same [offline](#for-tools).

## What is decided`

const CONTRACT = `NO_CONTRACT: there is no contract, the goal gate is skipped, the rest decides. A contract that is there and malformed is never treated as none: it does not pass.

## The goal contract

\`goal_text\` and \`acceptance_criteria\` are needed; \`version\` is 1, \`max_goal_attempts\` 3 where nobody says, \`goal_type\` a word for people. Every criterion has an \`id\` of its own, a \`kind\`, and may have a \`description\`. Unknown kinds and keys, missing fields, numbers that are none and ids that are there twice are refused, all together. A contract is YAML or JSON; it stands alone or under \`goal_contract\` of a document. It is hashed and does not change while a run lives.

A target may be what the run is started with: \`target: { input: NAME }\`, where \`NAME\` is a declared run input of type number. It is bound when the run starts, before the contract is hashed: whoever starts the run sets the target, and nobody moves it later.

The gate is MET when every criterion is. What is missing is NOT_MET; a malformed criterion is UNKNOWN, which is not met; named blockers, criteria out of reach and used up attempts make the gate BLOCKED.

## Criteria`

const EXAMPLES =
  '`sluice goal init FILE --type ml_classification`, `eda`, `hypothesis_test` or `report` writes one of these into a document, notebook or Markdown file. Each is tested: met by evidence that shows it, and not met when any criterion loses its own.'

const MARKERS = `## Evidence

Blocks print markers, one a line: \`[TYPE:subtype:key=value] content\`. Nothing but white space may stand before the bracket: quoted lines, brackets in sentences and everything between code fences (in lists and quotations too; one that is never closed goes to the end) are prose, and what every object has (\`__proto__\`, \`constructor\`, \`toString\` ..) is no name of a metric. Of one block the first 10,000 are read, all its texts together, and more are told (\`MARKERS_CUT\`). TYPE is upper case; \`-\` and \`_\` are equal; \\r\\n is \\n. A CITATION keeps its colons. Other types than these are kept, and mean nothing unless a contract names them.

A metric's value is the first word of its content: sign, decimals, a leading dot, an exponent, an optional \`=\` before it. \`85%\`, \`1,234\`, \`NaN\`, \`inf\` and words are no numbers. The last line of a name counts, and results name the block, attempt and event it came from.`

const TRUST = `## Trust

Of several verifiers the lowest score counts. No verifier, or one without a number from 0 to 100, fails the gate.`

const VERIFY = `The built-in verifier, handler \`verify-claims\` ([how](dag.md#handlers)), asks each finding at least five questions of the stored evidence, and answers each \`upheld\`, \`refuted\` or \`unsupported\`. One refuted answer rejects the finding.`

const AFTER_SCORE =
  'A part there is nothing to look at for is 0. Where SUCCESS is claimed and the goal gate does not pass, a challenge `GOAL_CLAIM_MISMATCH` is recorded; it costs no points, so that the two gates stay independent.'

const QUALITY = `## Quality

The score is 100 less the penalties, 0 at least; the gates pass without a single violation. \`ml\` has the standard rules too. Where there is no evidence at all quality is 0 with the one violation \`NO_EVIDENCE\`: no text of any block has a character that can be seen (white space, controls, zero-width characters, fillers and blank Braille are none; a text that is JSON is what it holds), no other value has a number, a yes or no, or such a text anywhere in it, and no artifact or file has a byte. An artifact whose size nobody tells (\`goal evaluate --ndjson\`) counts only where a criterion asks for it.`

const ATTEMPTS = `## Attempts and pivots

An attempt whose goal gate is NOT_MET has failed, whatever the trust gate says; MET with failed quality has not. The attempt that fails with number \`max_goal_attempts\` ends BLOCKED (\`Maximum attempts reached\`); one that is MET on the last attempt is SUCCESS. Every attempt has a fingerprint of its approach: DAG, inputs, feedback. A criterion that two distinct approaches failed before and this one fails too is BLOCKED (\`Unachievable: ..\`). Until then each unmet criterion comes with a suggestion for the next attempt.`

const RUNS = `## Runs

A run is judged when its document has \`completion\` or \`goal_contract\` ([dag.md](dag.md#completion)), or its start request a \`goal_contract\` (\`run start --goal-contract FILE\`), which goes before that of the document. The contract is checked when the run starts, its targets are bound, and what is frozen then is what counts at the end: stored as an object, its hash in \`run:started\`. A run without any of it ends as its blocks do.

When every block has completed or was skipped, \`_settle\` sends the machine to \`_decide_completion\`, once. It reads the evidence:

- Texts: the string outputs of blocks, no object refs of files (of a fan-out those of its items, in their order), as the attempts left them that completed and stand. What an attempt said that was retried, or that a bounce put back, is none.
- Artifacts of the run, each read from the object store: size and sha256 are as recorded, or it does not count (\`left_out\` of the evaluation names it). Those of attempts that do not stand, and of failed items of a fan-out, do not count either; what came along with the run that this one continues counts where it did so there.
- Nothing of the blocks that \`completion\` names: verifiers, the claim and the blockers judge, they do not testify. Nor does a person's word in an approval, nor what was merely read: blocks of \`read-input\`, \`read-object\` and \`mode: research\`.
- A marker line counts where it was said first. One whose marker stands anywhere in an output wired into its block (within a sentence, quoted, in a fence, a table, JSON, or in the text of a file) is relayed: it counts at the block that said it, or nowhere where that block does not testify; a finding may rest on relayed statistics of a block that does. Type, subtype and what is said are compared: numbers by value (0.950 and 95 % are 0.95), of a METRIC nothing but its number; of other contents the words, numbers and signs, and one that breaks off earlier says the same. Attributes, blanks, punctuation, and the case of contents are not. What was given without a marker (a number in prose) is not compared, nor what an agent reads by its tools. Inputs of the run are no block's output: whoever starts a run answers for them.

A verdict on what was sent back after it (by a rule of another block; the verifier did not look again) is none: no score, no claim. \`blockers\` in what a verifier says count beside those of \`completion.blockers\`.

Then it writes down what the gates said, with everything they were asked, as one object, and \`goal:evaluated\` refers to that. The same question gives the same answer again. A failed attempt gets its number in the lineage before that. \`_settle\` ends the run:

| outcome | run ends                              | code                                            |
| ------- | ------------------------------------- | ----------------------------------------------- |
| SUCCESS | completed                             | \`completed\`                                     |
| PARTIAL | partial                               | \`goal_missed\`, \`trust_failed\`, \`quality_failed\` |
| BLOCKED | blocked                               | \`goal_out_of_reach\`                             |
| FAILED  | failed: a block failed, or a claim    | that of the failure, or \`claimed_failed\`        |
| ABORTED | cancelled: it was stopped, or a claim | that of the stop, or \`claimed_aborted\`          |

A claim worse than what the gates say stays (\`claimed_partial\` and so on); an unknown one is PARTIAL. An output or the contract that is not in the object store when it is read is no evidence against anybody: it is tried again for some minutes, and then the run fails.

A child run (\`mode: dag\`) is judged by its own document. Its block takes its outputs only when it ended completed: \`child_partial\` and \`child_blocked\` fail the block.`

const LINES = `## For tools

With \`--ndjson\` a JSON object a line comes in and one goes out, in the same order and at once; the exit code is 0 when all were answered. What may be left out may be null.

- \`goal evaluate\`: \`{"id", "contract", "output", "artifacts": [paths], "trust_score", "claimed_status", "prior_attempts": [{"fingerprint", "unmet": [ids]}], "quality": "standard" or "ml", "blockers": [texts]}\`, \`prior_failed_attempts\` (a number) instead of \`prior_attempts\` -> \`{"id", "goal_status", "met_count", "total_count", "trust_passed", "quality": {"passed", "score", "violations"}, "final_status", "row", "action", "warnings": [{"code", "message", "severity"}], "criteria": [{"id", "status", "actual", "target", "message", "source"}], "pivot": {"shouldPivot", "attemptNumber", "maxAttempts", "suggestions", "unachievable"}}\`
- \`goal validate\`: \`{"id", "contract"}\` -> \`{"id", "valid", "errors": [{"code", "path", "line", "column", "message"}]}\`
- \`goal decide\`: \`{"id", "trust_score", "quality_passed", "goal_status", "claimed_status"}\` -> \`{"id", "final_status", "row", "action"}\`

A line that cannot be read is answered with an error \`malformed_line\`. \`contract\` is YAML text or an object; \`artifacts\` are taken as they are given, without a size (\`goal evaluate --artifacts\` looks at the files).

With files: \`sluice goal evaluate --contract goal.yaml --output log.txt --artifacts model.pkl --trust 85\`. Exit codes: 0 SUCCESS, 3 PARTIAL or BLOCKED, 1 FAILED or ABORTED, 100 a malformed contract.

A notebook brings everything: \`sluice goal evaluate --notebook churn.ipynb --trust 85\`. The contract is \`gyoshu.goal_contract\` in the YAML front matter (between two lines \`---\`) of its first raw or Markdown cell, the evidence what its code cells printed to stdout, in the order of the cells, the artifacts the files beside it and below that a criterion asks for. A Markdown file may hold the contract in the same way; its evidence is named with \`--output\`. A contract that stands beside \`gyoshu\`, or whose key is misspelt, is an error and not none.

\`sluice goal init FILE\` writes a contract into a document (under \`goal_contract\`), notebook or Markdown file: one of the [examples](#contracts-for-common-work), or with \`--contract\` that of another file; \`--replace\` for one that is there. \`--goal-text\` sets the goal, and in an example the figure it states of what that measures (\`at least 75 % accuracy\`, \`seven sources\`): a text with another metric, several figures, or a number that is not read whole is refused, and nothing is written. Every other byte stays as it is, and the file is written whole or not at all.

## An example to run

\`npm run demo:goals\` runs \`dags/churn-analysis.yaml\` on a public data set. A model is trained and cross-validated, its claims are verified, and all of it is the same each time but the target: 0.70 ends SUCCESS; 0.73 ends PARTIAL, and the next attempt, with more columns, SUCCESS; 0.90 ends PARTIAL twice and then BLOCKED.

\`\`\`
sluice run start --example churn-analysis --input target=0.70 --watch
sluice run goal RUN
\`\`\``
