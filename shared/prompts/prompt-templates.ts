import { PLANNER_PROMPT } from './planner-prompt.ts'
import { VERIFIER_PROMPT } from './verifier-prompt.ts'
import { WORKER_PROMPT } from './worker-prompt.ts'

/** The shipped texts an agent may be given by name (`agent.prompt_template`): what stands before its own prompt. */
export const PROMPT_TEMPLATES: Readonly<Record<'planner' | 'worker' | 'verifier', string>> = {
  planner: PLANNER_PROMPT,
  worker: WORKER_PROMPT,
  verifier: VERIFIER_PROMPT,
}
