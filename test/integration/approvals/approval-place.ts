import { decideApproval } from '../../../functions/approvals/decide.ts'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { Decision } from '../../../shared/api/control-routes.ts'
import type { Principal } from '../../../shared/auth/principal.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import { Fault } from '../../../shared/errors.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { HeadApproval } from '../../../shared/runs/head.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

/** What somebody was told who decided: what became of it, or the code of the refusal. */
export type Told = HeadApproval['status'] | (string & {})

/** A local place where people with names of their own decide, by the very function the route calls. */
export interface ApprovalPlace extends TestPlace {
  /** Prompts its one provider was asked, in order; each answer is the prompt in angle brackets. */
  readonly prompts: string[]
  /** Feedback that went with each of them. */
  readonly feedback: string[][]
  /** Waits for the question of a block that comes behind the event `after`. */
  asked(runId: string, block: string, after?: number): Promise<Question>
  decide(runId: string, who: string, decision: Partial<Decision> & Pick<Decision, 'decision'>): Promise<Told>
  /** The same, with all that was answered. */
  answer(runId: string, who: string, decision: Partial<Decision> & Pick<Decision, 'decision'>): Promise<unknown>
  /** What verify-run finds wrong with a run; empty = nothing. */
  problems(runId: string): Promise<readonly string[]>
}

export interface Question {
  readonly approval_id: string
  readonly digest: string
  readonly seq: number
}

const text = { text: { type: 'string' } }
export const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })

/** Two blocks; the second one asks. */
export const deploy = (approval: object | boolean, more: object = {}) => ({
  blocks: [
    { id: 'build', outputs: text, agent: agent('build') },
    {
      id: 'deploy',
      inputs: { text: { from: 'build.text' }, goal: { type: 'string', default: 'soon' } },
      outputs: text,
      agent: agent('deploy {{inputs.text}} {{inputs.goal}}'),
      approval,
      ...more,
    },
  ],
})

export async function openApprovalPlace(settings: object = {}, options: PlaceOptions = {}): Promise<ApprovalPlace> {
  const prompts: string[] = []
  const feedback: string[][] = []
  const probe = provider((request) => {
    const [first = ''] = request.prompt.split('\n')
    prompts.push(first)
    feedback.push([...(request.feedback ?? [])])
    return `<${first}>`
  })
  const open = await openTestPlace({ providers: { probe }, ...options }, { ...settings })
  const keyOf = (run_id: string) => ({ tenant: 'main', run_id })
  const asked: ApprovalPlace['asked'] = async (id, block, after = 0) => {
    const event = await open.until(id, (one) => isQuestion(one) && one.block_id === block && one.seq > after)
    const { approval_id, digest } = (event as Extract<RunEvent, { type: 'approval:requested' }>).data
    return { approval_id, digest, seq: event.seq }
  }
  const answer: ApprovalPlace['answer'] = async (id, who, decision) => {
    const [kind = '', name = ''] = who.split(':')
    const principal: Principal = { kind: kind as Principal['kind'], id: name, tenant: 'main', scopes: SCOPES }
    return decideApproval(open.place.world, keyOf(id), principal, decision as Decision)
  }
  return Object.assign(open, {
    prompts,
    feedback,
    asked,
    answer,
    decide: async (id: string, who: string, decision: Parameters<typeof answer>[2]): Promise<Told> => {
      try {
        return ((await answer(id, who, decision)) as HeadApproval).status
      } catch (error) {
        if (error instanceof Fault) return error.code
        throw error
      }
    },
    problems: async (id: string) => {
      const json: unknown = (await open.call('verify-run', id)).json
      const { checks } = json as { readonly checks: readonly { readonly problems: readonly string[] }[] }
      return checks.flatMap(({ problems }) => problems)
    },
  })
}

function isQuestion({ type }: RunEvent): boolean {
  return type === 'approval:requested'
}
