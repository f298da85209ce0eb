import { useEffect, useRef, useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { changeQuery, route } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import { CheckWords } from './check-words.tsx'
import { lineRange } from './line-range.ts'
import { PlanSummary } from './plan-summary.tsx'
import { StartForm } from './start-form.tsx'
import { useCheck } from './use-check.ts'
import './start.css'

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
