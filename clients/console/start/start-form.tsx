import { useRef, useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { TypedField } from '../parts/typed-field.tsx'
import { useChange } from '../place/use-change.ts'
import { hrefOf } from '../route.ts'
import { randomKey, requestKeys } from './idempotency-key.ts'
import { type Checked, inputFields, readInputs, type StartBody, startBody } from './start-request.ts'

interface FormProps {
  readonly source: Parameters<typeof startBody>[0]
  readonly checked: Checked
  readonly isBehind: boolean
}

/** The inputs a run needs, by their types, and the start itself. */
export function StartForm({ source, checked, isBehind }: FormProps) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  const keyOf = useRef(requestKeys(randomKey))
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
