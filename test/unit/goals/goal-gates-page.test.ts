import { describe, expect, test } from 'vitest'
import { OPERATORS } from '../../../shared/goals/criteria/metric-threshold.ts'
import { CRITERION_KINDS } from '../../../shared/goals/criteria/registry.ts'
import { DECISION_TABLE } from '../../../shared/goals/decision-table.ts'
import { MARKER_TYPES } from '../../../shared/goals/marker.ts'
import { QUALITY_RULES } from '../../../shared/goals/quality-gate.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { TRUST_BANDS } from '../../../shared/goals/trust-gate.ts'
import { CLAIM_WEIGHTS, REJECTED_FINDING_COSTS } from '../../../shared/goals/verify-claims.ts'
import { PROMPT_TEMPLATES } from '../../../shared/prompts/templates.ts'
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
    templates(),
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

function templates(): string {
  const texts = Object.entries(PROMPT_TEMPLATES).map(([name, text]) => `### ${name}\n\n\`\`\`text\n${text}\n\`\`\``)
  return `${TEMPLATES}\n\n${texts.join('\n\n')}`
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

A result can be measured perfectly and still miss the goal: 75 % accuracy, when 90 % was asked for. So two gates always judge a run:

- The **trust gate** asks whether the evidence can be believed. A verifier that did not do the work gives a score from 0 to 100; a score of at least 80 passes.
- The **goal gate** asks whether the acceptance criteria of the **goal contract** are met. It looks at the evidence and at nothing else.

**Quality gates** look at the form of the evidence. A run ends SUCCESS only when all three pass.

Gates only downgrade. A run that claims PARTIAL, BLOCKED, FAILED or ABORTED keeps that outcome or gets a worse one, and nothing follows it. A gate that crashes has failed.

A [run](#runs) is judged this way when it has a goal. \`sluice goal evaluate\`, \`sluice goal validate\` and \`sluice goal decide\` do the same [offline](#for-tools).

## What is decided`

const CONTRACT = `NO_CONTRACT means that there is no contract: the goal gate is skipped, and the other gates decide. A malformed contract never counts as no contract; it does not pass.

## The goal contract

A contract is YAML or JSON. It is a file of its own or stands in a document, under \`goal_contract\`.

- \`goal_text\` and \`acceptance_criteria\` are required.
- \`version\` is 1 and \`max_goal_attempts\` is 3 unless the contract says otherwise. \`goal_type\` is a word for people.
- Every criterion has an \`id\` of its own and a \`kind\`; it may have a \`description\`.

Unknown kinds and keys, missing fields, values that should be numbers and are not, and ids used twice are refused, all in one answer. The contract is hashed and does not change during a run.

A target may come from an input of the run: \`target: { input: NAME }\`, where \`NAME\` is a declared run input of type number. It is bound when the run starts, before the contract is hashed. So whoever starts the run sets the target, and nobody moves it later.

The gate is MET when every criterion is met. A criterion that fails, or whose evidence is missing, is NOT_MET; a malformed one is UNKNOWN, which is not met. The gate is BLOCKED when a blocker is named, when a criterion is out of reach, or when the attempts are used up.

## Criteria`

const EXAMPLES =
  '`sluice goal init FILE --type ml_classification`, `eda`, `hypothesis_test` or `report` writes one of these into a document, notebook or Markdown file. Each is tested: met by evidence that shows it, and not met when any criterion loses its own.'

const MARKERS = `## Evidence

Blocks print markers, one on a line: \`[TYPE:subtype:key=value] content\`. TYPE is upper case. \`-\` and \`_\` are equal, and so are \`\\r\\n\` and \`\\n\`. A CITATION keeps its colons. Types that are not listed below are kept, but mean nothing unless a contract names them.

These are prose, not markers:

- a line with anything but white space before the bracket, such as a quoted line or a bracket in a sentence;
- everything between code fences, also in lists and quotations. A fence that is never closed goes to the end.

A name that every object has (\`__proto__\`, \`constructor\`, \`toString\` ..) cannot be the name of a metric. Of each block the first 10,000 markers are read, all its texts together; if there are more, the evaluation says so (\`MARKERS_CUT\`).

A metric's value is the first word of its content: a sign, decimals, a leading dot and an exponent are allowed, and an \`=\` before it. \`85%\`, \`1,234\`, \`NaN\`, \`inf\` and words are not numbers. Where a name occurs several times, its last line counts. Results name the block, the attempt and the event a value came from.`

const TRUST = `## Trust

Where there are several verifiers, the lowest score counts. A run without a verifier, or with one that gives no number from 0 to 100, fails the gate.`

const VERIFY = `The built-in verifier, handler \`verify-claims\` ([how](dag.md#handlers)), asks each finding at least five questions of the stored evidence, and answers each \`upheld\`, \`refuted\` or \`unsupported\`. One refuted answer rejects the finding.`

const AFTER_SCORE =
  'A part with nothing to look at gives 0 points. Where SUCCESS is claimed and the goal gate does not pass, a challenge `GOAL_CLAIM_MISMATCH` is recorded; it costs no points, so that the two gates stay independent.'

const QUALITY = `## Quality

The score is 100 minus the penalties, and at least 0. The gates pass only without a single violation. The profile \`ml\` includes the standard rules.

Where there is no evidence at all, quality is 0 with the one violation \`NO_EVIDENCE\`. That is the case when none of these is there:

- a text of any block with a character that can be seen (white space, controls, zero-width characters, fillers and blank Braille cannot; a text that is JSON is what it holds);
- another value with a number, a yes or no, or such a text anywhere in it;
- an artifact or file with at least one byte. An artifact whose size nobody tells (\`goal evaluate --ndjson\`) counts only where a criterion asks for it.`

const ATTEMPTS = `## Attempts and pivots

An attempt has failed when its goal gate is NOT_MET, whatever the trust gate says. An attempt that is MET with failed quality has not failed.

The failed attempt whose number is \`max_goal_attempts\` ends BLOCKED (\`Maximum attempts reached\`). One that is MET on the last attempt is SUCCESS.

Every attempt has a fingerprint of its approach: DAG, inputs and feedback. A criterion that this attempt and two distinct approaches before it failed is BLOCKED (\`Unachievable: ..\`). Until then, each unmet criterion comes with a suggestion for the next attempt.`

const RUNS = `## Runs

A run is judged when its document has \`completion\` or \`goal_contract\` ([dag.md](dag.md#completion)), or when the request that starts it has a \`goal_contract\` (\`run start --goal-contract FILE\`), which takes precedence over the document's. A run with none of these ends as its blocks do.

The contract is checked and its targets are bound when the run starts. It is then stored as an object, its hash is in \`run:started\`, and this frozen contract is what counts at the end.

When every block has completed or was skipped, \`_settle\` sends the machine to \`_decide_completion\`, once. That state reads the evidence:

- **Texts**: the string outputs of blocks, without object refs of files. For a fan-out, those of its items, in their order. Only attempts that completed and still stand count. What an attempt said that was retried, or that a bounce put back, is not evidence.
- **Artifacts** of the run. Each is read from the object store and counts only if its size and sha256 are as recorded; otherwise \`left_out\` of the evaluation names it. Artifacts of attempts that do not stand, and of failed items of a fan-out, do not count. An artifact that came with the run which this one continues counts if it counted there.
- **Not** the outputs of the blocks that \`completion\` names: the verifiers, the claim and the blockers judge, they do not testify. **Not** a person's words in an approval. **Not** what was merely read: the outputs of \`read-input\`, \`read-table\` and \`read-object\`, and of blocks with \`mode: research\`.
- A marker line counts where it was said first. If the same marker stands anywhere in an output that is wired into the block (within a sentence, quoted, in a fence, a table or JSON, or in the text of a file), the line is **relayed**: it counts at the block that said it first, or nowhere if that block does not testify. A finding may rest on relayed statistics of a block that does testify.
- Two markers are the same when type, subtype and content are. Numbers are compared by value (0.950 and 95 % are 0.95), and of a METRIC nothing but its number. Of other contents the words, numbers and signs are compared; one that breaks off earlier counts as the same. Attributes, blanks, punctuation, and the case of contents are not compared.
- What was given without a marker (a number in prose) is not compared, nor what an agent reads through its tools. Inputs of the run are not the output of any block: whoever starts a run answers for them.

If work was sent back after a verifier judged it (by a rule of another block), and the verifier did not look again, its verdict counts for nothing: no score and no claim. \`blockers\` in what a verifier says are added to those of \`completion.blockers\`.

\`_decide_completion\` then stores what the gates said, together with everything they were asked, as one object. \`goal:evaluated\` refers to that object, and the same question gives the same answer again. A failed attempt gets its number in the lineage before that. Then \`_settle\` ends the run:

| outcome | run ends                              | code                                            |
| ------- | ------------------------------------- | ----------------------------------------------- |
| SUCCESS | completed                             | \`completed\`                                     |
| PARTIAL | partial                               | \`goal_missed\`, \`trust_failed\`, \`quality_failed\` |
| BLOCKED | blocked                               | \`goal_out_of_reach\`                             |
| FAILED  | failed: a block failed, or a claim    | that of the failure, or \`claimed_failed\`        |
| ABORTED | cancelled: it was stopped, or a claim | that of the stop, or \`claimed_aborted\`          |

A claim that is worse than what the gates say stays (\`claimed_partial\` and so on); an unknown claim is PARTIAL. If an output, or the contract, is not in the object store when it is read, that is not held against anybody: reading is tried again for some minutes, and then the run fails.

A child run (\`mode: dag\`) is judged by its own document. The block that started it takes its outputs only if the child ended completed; \`child_partial\` and \`child_blocked\` fail the block.`

const TEMPLATES = `## Prompt templates

An agent whose run has a goal contract is told of it, whoever wrote its prompt: behind the prompt stand the goal, what shows each criterion (the first 30), and how to say evidence; a block that [judges](#trust) is told that what it says is none. The words follow from the contract alone, so the same prompt has the same hash, and none of their lines is a marker: who only repeats them has shown nothing. Provider \`local\`, which is no model, and runs without a contract are told nothing. A result [kept](dag.md#cache) of a run with another contract is not taken for one of this.

Three texts are shipped for agents that work towards a goal. Name one as \`agent.prompt_template\` ([dag.md](dag.md#agent)), and it is sent before the block's own \`system\` text. The \`system\` text of an agent in sluice.yaml is not sent then:

\`\`\`yml
agent:
  provider: claude
  model: claude-sonnet-4-5
  prompt_template: worker
  prompt: "Train a classifier on {{inputs.rows}}."
\`\`\`

A template only tells a model early what is judged later: every rule that matters is a gate, and holds without it.`

const LINES = `## For tools

With \`--ndjson\` one JSON object a line comes in, and one goes out for each, in the same order and at once. The exit code is 0 when all were answered. A member that may be left out may also be null.

- \`goal evaluate\`: \`{"id", "contract", "output", "artifacts": [paths], "trust_score", "claimed_status", "prior_attempts": [{"fingerprint", "unmet": [ids]}], "quality": "standard" or "ml", "blockers": [texts]}\`, \`prior_failed_attempts\` (a number) instead of \`prior_attempts\` -> \`{"id", "goal_status", "met_count", "total_count", "trust_passed", "quality": {"passed", "score", "violations"}, "final_status", "row", "action", "warnings": [{"code", "message", "severity"}], "criteria": [{"id", "status", "actual", "target", "message", "source"}], "pivot": {"shouldPivot", "attemptNumber", "maxAttempts", "suggestions", "unachievable"}}\`
- \`goal validate\`: \`{"id", "contract"}\` -> \`{"id", "valid", "errors": [{"code", "path", "line", "column", "message"}]}\`
- \`goal decide\`: \`{"id", "trust_score", "quality_passed", "goal_status", "claimed_status"}\` -> \`{"id", "final_status", "row", "action"}\`

A line that cannot be read is answered with an error \`malformed_line\`. \`contract\` is YAML text or an object. \`artifacts\` are taken as they are given, without a size (\`goal evaluate --artifacts\` looks at the files).

With files: \`sluice goal evaluate --contract goal.yaml --output log.txt --artifacts model.pkl --trust 85\`. Exit codes: 0 SUCCESS, 3 PARTIAL or BLOCKED, 1 FAILED or ABORTED, 100 a malformed contract.

A notebook brings everything: \`sluice goal evaluate --notebook churn.ipynb --trust 85\`.

- The contract is \`gyoshu.goal_contract\` in the YAML front matter (between two lines \`---\`) of its first raw or Markdown cell.
- The evidence is what its code cells printed to stdout, in the order of the cells.
- The artifacts are the files beside it and below that a criterion asks for.

A Markdown file may hold the contract in the same way; name its evidence with \`--output\`. A contract that stands beside \`gyoshu\`, or whose key is misspelt, is an error: it is not taken for a missing one.

\`sluice goal init FILE\` writes a contract into a document (under \`goal_contract\`), a notebook or a Markdown file. It is one of the [examples](#contracts-for-common-work), or with \`--contract\` that of another file; \`--replace\` replaces one that is there. \`--goal-text\` sets the goal and, in an example, the figure that the text states for what the example measures (\`at least 75 % accuracy\`, \`seven sources\`). A text with another metric, several figures, or a number that is not read whole is refused, and nothing is written. Every other byte of the file stays as it is, and the file is written whole or not at all.

## An example to run

\`npm run demo:goals\` runs \`dags/churn-analysis.yaml\` on a public data set: a model is trained and cross-validated, and its claims are verified. Only the target differs from run to run. With 0.70 the run ends SUCCESS. With 0.73 it ends PARTIAL, and the next attempt, with more columns, ends SUCCESS. With 0.90 it ends PARTIAL twice and then BLOCKED.

\`\`\`
sluice run start --example churn-analysis --input target=0.70 --watch
sluice run goal RUN
\`\`\``
