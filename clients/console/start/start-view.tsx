import './start.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { usdWords } from '../parts/format.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { TypedField } from '../parts/typed-field.tsx'
import { type Answer, useAnswer, useChange } from '../parts/use-answer.ts'
import { changeQuery, hrefOf, route } from '../route.ts'
import {
  type Checked,
  idempotencyKeys,
  inputFields,
  lineRange,
  randomKey,
  readInputs,
  type StartBody,
  startBody,
} from './start-request.ts'

/** Starts a run: a deployed document or a pasted one, checked and planned as it is typed, and its inputs. */
export function StartView() {
  const { name } = route.value.query
  const config = useAnswer('documents', async () => (await answerOf(api.GET('/api/config'))).documents)
  const deployed = useAnswer(`document ${name}`, async () => (name === undefined ? undefined : await askText(name)))
  const [text, setText] = useState('')
  const editor = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (deployed.value !== undefined) setText(deployed.value)
  }, [deployed.value])
  const { checked, plan, isBehind } = useCheck(text)
  const showLine = (line: number) => {
    const [from, to] = lineRange(text, line)
    editor.current?.focus()
    editor.current?.setSelectionRange(from, to)
  }
  const problem = config.problem ?? deployed.problem ?? checked.problem
  return (
    <section class="page stack">
      <h1>Start a run</h1>
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="start">
        <div class="stack">
          <DocumentChoice names={config.value ?? []} name={name} />
          <label class="block-label">
            Document (YAML)
            <textarea
              ref={editor}
              class="editor"
              rows={24}
              spellcheck={false}
              placeholder={'name: my-dag\nblocks:\n  - id: plan\n    …'}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
        </div>
        <div class="stack">
          <CheckWords checked={checked.value} isBehind={isBehind} showLine={showLine} />
          {checked.value?.valid === true && (
            <StartForm
              key={name ?? 'pasted'}
              source={{ text, name, deployed: deployed.value }}
              checked={checked.value}
              isBehind={isBehind}
            />
          )}
          {plan.value !== undefined && <PlanSummary plan={plan.value} />}
        </div>
      </div>
    </section>
  )
}

function DocumentChoice({ names, name }: { readonly names: readonly string[]; readonly name: string | undefined }) {
  return (
    <label>
      Deployed document
      <select
        value={name ?? ''}
        onChange={({ currentTarget }) => changeQuery({ name: currentTarget.value || undefined })}
      >
        <option value="">none: paste one below</option>
        {names.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}

async function askText(name: string): Promise<string> {
  return (await answerOf(api.GET('/api/dag/documents/{name}', { params: { path: { name } } }))).text
}

interface FormProps {
  readonly source: Parameters<typeof startBody>[0]
  readonly checked: Checked
  readonly isBehind: boolean
}

/** The inputs a run needs, by their types, and the start itself. */
function StartForm({ source, checked, isBehind }: FormProps) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const keyOf = useRef(idempotencyKeys(randomKey))
  const { isBusy, problem, run } = useChange()
  const fields = inputFields(checked)
  const { inputs, missing, wrong } = readInputs(fields, texts)
  const submit = async (event: Event) => {
    event.preventDefault()
    const body = startBody(source, inputs)
    const started = await run(() => start(body, keyOf.current(body)))
    if (started !== undefined) location.hash = hrefOf(['runs', started.run_id, 'graph'])
  }
  return (
    <form class="card stack" onSubmit={submit}>
      <h2>Inputs</h2>
      {fields.length === 0 && <p class="empty">This document needs no inputs.</p>}
      {fields.map(({ name, type, isRequired, description, fallback }) => (
        <TypedField
          key={name}
          name={name}
          type={type}
          text={texts[name] ?? ''}
          isRequired={isRequired}
          description={description}
          placeholder={fallback}
          onText={(text) => setTexts((old) => ({ ...old, [name]: text }))}
        />
      ))}
      {problem !== undefined && <ProblemNotice problem={problem} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy || isBehind || missing.length + wrong.length > 0}>
          Start the run
        </button>
        {missing.length > 0 && <span class="soft">Needed: {missing.join(', ')}</span>}
        {wrong.length > 0 && <span class="soft">Not of its type: {wrong.join(', ')}</span>}
      </div>
    </form>
  )
}

function start(body: StartBody, key: string) {
  return answerOf(api.POST('/api/dag/run', { params: { header: { 'Idempotency-Key': key } }, body }))
}

interface CheckProps {
  readonly checked: Checked | undefined
  readonly isBehind: boolean
  readonly showLine: (line: number) => void
}

/** Every error with its place at once; a click shows the line. */
function CheckWords({ checked, isBehind, showLine }: CheckProps) {
  if (checked === undefined) {
    return <Empty>Choose a deployed document or paste one: its errors, its plan and its inputs show up here.</Empty>
  }
  const { valid, errors, warnings } = checked
  return (
    <div class="stack">
      <p role="status" class={`check-state tone-${isBehind ? 'quiet' : valid ? 'good' : 'bad'}`}>
        {isBehind ? '… Checking' : valid ? '✓ Valid' : `✕ ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`}
      </p>
      {errors.length > 0 && <Issues issues={errors} showLine={showLine} label="Errors" />}
      {warnings.length > 0 && <Issues issues={warnings} showLine={showLine} label="Warnings" />}
    </div>
  )
}

interface IssuesProps {
  readonly issues: Checked['errors']
  readonly showLine: (line: number) => void
  readonly label: string
}

function Issues({ issues, showLine, label }: IssuesProps) {
  return (
    <ul class="issues" aria-label={label}>
      {issues.map(({ code, path, message, line, column }) => (
        <li key={`${path} ${code} ${message}`}>
          {typeof line === 'number' && (
            <button type="button" class="quiet" onClick={() => showLine(line)}>
              Line {line}
              {typeof column === 'number' && `, column ${column}`}
            </button>
          )}{' '}
          {path !== '' && <code>{path}</code>} {message}
        </li>
      ))}
    </ul>
  )
}

/** What a run will do, as far as it can be known before. */
function PlanSummary({ plan }: { readonly plan: Plan }) {
  const { blocks, critical_path, width, cost, next_limit, assumptions } = plan
  const { tokens, usd, unpriced } = cost.models
  return (
    <section class="card stack">
      <h2>Plan</h2>
      <dl class="facts">
        <dt>Blocks</dt>
        <dd>
          {blocks}, {width.at_once} at once
          {width.exceeds_max_parallel && `, more than the ${plan.makespan.max_parallel} that may run at once`}
        </dd>
        <dt>Critical path</dt>
        <dd>{critical_path.blocks.join(' → ')}</dd>
        <dt>Tokens of a run</dt>
        <dd class="numbers">{rangeWords(tokens, (value) => value.toLocaleString('en'))}</dd>
        <dt>Models, a run</dt>
        <dd class="numbers">
          {rangeWords(usd, usdWords)}
          {unpriced.length > 0 && `; no price is known for ${unpriced.join(', ')}`}
        </dd>
        <dt>On AWS, 1,000 runs</dt>
        <dd class="numbers">
          {usdWords(cost.orchestration_usd_per_1000_runs)} for orchestration, {usdWords(cost.work_usd_per_1000_runs)}{' '}
          for work ({cost.region}, prices of {cost.as_of})
        </dd>
        <dt>Nearest limit</dt>
        <dd class="numbers">
          {next_limit.name.replaceAll('_', ' ')}: {next_limit.used.toLocaleString('en')} of{' '}
          {next_limit.limit.toLocaleString('en')}
        </dd>
      </dl>
      <details>
        <summary>What this assumes</summary>
        <ul>
          {assumptions.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      </details>
    </section>
  )
}

interface Range {
  readonly low: number
  readonly expected: number
  readonly high: number
}

function rangeWords({ low, expected, high }: Range, words: (value: number) => string): string {
  if (low === high) return words(expected)
  return `about ${words(expected)} (${words(low)} to ${words(high)})`
}

type Plan = operations['plan-dag']['responses'][200]['content']['application/json']

interface Check {
  readonly checked: Answer<Checked | undefined>
  /** Of a valid document. */
  readonly plan: Answer<Plan | undefined>
  /** The text was changed since it was checked. */
  readonly isBehind: boolean
}

/** ms of no typing after which a text is checked. */
const QUIET_MS = 400

/** All errors of a document as it is typed, and its plan where it has none. */
function useCheck(text: string): Check {
  const [quiet, setQuiet] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(text), QUIET_MS)
    return () => clearTimeout(timer)
  }, [text])
  const isEmpty = quiet.trim() === ''
  const checked = useAnswer(`check ${quiet}`, async () => {
    return isEmpty ? undefined : await answerOf(api.POST('/api/dag/validate', { body: { dag: quiet } }))
  })
  const isValid = checked.value?.valid === true
  const plan = useAnswer(`plan ${isValid} ${quiet}`, async () => {
    if (!isValid) return undefined
    // What has a default may be left out of a request; the type says it is always there.
    const body = { dag: quiet, durations: {}, default_duration: 1, items: {} }
    return await answerOf(api.POST('/api/dag/plan', { body }))
  })
  return { checked, plan, isBehind: quiet !== text || checked.isLoading }
}
