import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { TypedField } from '../parts/typed-field.tsx'
import { readTyped, typedText } from '../parts/typed-text.ts'
import { useAnswer } from '../use-answer.ts'
import type { Answer, Approval } from './decision.ts'

interface Edits {
  /** Fields to draw; nothing where nothing may be edited. */
  readonly fields: ComponentChildren
  readonly values: Readonly<Record<string, unknown>>
  /** Every field holds nothing or a value of its type. */
  readonly isReady: boolean
}

/** Inputs an approver may change as they approve; a field that stays as it was is no edit. */
export function useEdits(approval: Approval, answer: Answer): Edits {
  const isOpen = answer === 'approve' && approval.edit.length > 0
  const types = usePortTypes(approval, isOpen)
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({})
  if (!isOpen) return { fields: null, values: {}, isReady: true }
  const fields = approval.edit.map((name) => {
    const type = types?.[name] ?? 'json'
    const before = typedText(type, approval.shown[name])
    return { name, type, before, text: texts[name] ?? before }
  })
  const changed = fields.filter(({ text, before }) => text !== before)
  const typed = changed.map(({ name, type, text }) => [name, readTyped(type, text)] as const)
  return {
    values: Object.fromEntries(typed.flatMap(([name, read]) => ('value' in read ? [[name, read.value]] : []))),
    isReady: types !== undefined && typed.every(([, read]) => !('problem' in read)),
    fields: (
      <fieldset class="choices">
        <legend>Inputs you may change (left as they are, they are no edits)</legend>
        {types === undefined && <p class="empty">Asking which types they have.</p>}
        {types !== undefined &&
          fields.map(({ name, type, text }) => (
            <TypedField
              key={name}
              name={name}
              type={type}
              text={text}
              onText={(next) => setTexts((old) => ({ ...old, [name]: next }))}
            />
          ))}
      </fieldset>
    ),
  }
}

/** The run's document says of which type each input is. Undefined until it was answered. */
function usePortTypes({ run_id, block_id }: Approval, isOpen: boolean): Readonly<Record<string, string>> | undefined {
  const { value, problem } = useAnswer(`types ${run_id} ${isOpen}`, async () => {
    if (!isOpen) return []
    const { dag } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
    return dag.blocks as readonly BlockInputs[]
  })
  // Without the document every field takes JSON; the server checks it.
  if (problem !== undefined) return {}
  const inputs = value?.find(({ id }) => id === block_id)?.inputs ?? {}
  return value === undefined
    ? undefined
    : Object.fromEntries(Object.entries(inputs).map(([name, { type }]) => [name, type]))
}

/** As much of a normalised document as is needed here (shared/dag/dag.ts). */
interface BlockInputs {
  readonly id: string
  readonly inputs: Readonly<Record<string, { readonly type: string }>>
}
