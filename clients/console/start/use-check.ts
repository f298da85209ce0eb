import { useEffect, useState } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { type Answer, useAnswer } from '../use-answer.ts'
import type { Checked } from './start-request.ts'

export type Plan = operations['plan-dag']['responses'][200]['content']['application/json']

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
export function useCheck(text: string): Check {
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
