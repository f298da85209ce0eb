import { useId } from 'preact/hooks'
import { readTyped } from './value-text.ts'
import './typed-field.css'

interface FieldProps {
  readonly name: string
  readonly type: string
  readonly text: string
  readonly isRequired?: boolean
  readonly description?: string | undefined
  /** What holds while the field is empty. */
  readonly placeholder?: string | undefined
  readonly onText: (text: string) => void
}

/** A value of a port, typed by its type; what is wrong with it stands below, as it is typed. */
export function TypedField({ name, type, text, isRequired = false, description, placeholder, onText }: FieldProps) {
  const id = useId()
  const typed = readTyped(type, text)
  const problem = 'problem' in typed ? typed.problem : undefined
  const given = {
    id,
    value: text,
    placeholder,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-about`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onText(currentTarget.value),
  }
  return (
    <div class="typed-field">
      <label htmlFor={id}>
        <code>{name}</code>
        <span class="soft small">
          {type}
          {isRequired && ', required'}
        </span>
      </label>
      {fieldOf(type, text, given)}
      <p id={`${id}-about`} class="small">
        {problem === undefined ? (
          <span class="soft">{description}</span>
        ) : (
          <span class="field-problem">
            <span aria-hidden="true">✕</span> {name} {problem}
          </span>
        )}
      </p>
    </div>
  )
}

type Given = Readonly<Record<string, unknown>> & {
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void
}

function fieldOf(type: string, text: string, given: Given) {
  if (type === 'boolean') {
    return (
      <select {...given}>
        <option value="">not given</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    )
  }
  if (type === 'number') return <input inputMode="decimal" {...given} />
  const rows = Math.min(14, Math.max(type === 'json' ? 4 : 2, text.split('\n').length))
  return type === 'string' || type === 'json' ? <textarea rows={rows} {...given} /> : <input {...given} />
}
