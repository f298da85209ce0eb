import { Fault } from '../../shared/errors.ts'
import { withFeedback } from '../../shared/prompts/block.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { readInputSentences } from './local/input-sentences.ts'
import { answerPorts } from './local/port-values.ts'
import { playScript } from './local/script.ts'
import { extract, outline, type Tool, table, template } from './local/tools.ts'
import { fileRefused, refuseTools } from './model-answers.ts'

const MAX_CHARACTERS = 200_000

const TOOLS: Readonly<Record<string, Tool>> = { template, extract, outline, table }

/**
 * Provider `local`: deterministic text tools, offline, no model; it says so in every answer's `note`. The model names
 * the tool: `template`, `extract`, `table`, `script`, and `outline` for every other name. Same request, same answer. It reads at
 * most the first 200,000 characters of the prompt and of each input, so an answer takes milliseconds; an aborted signal
 * is thrown before it starts and between ports. Ports: local/ports.ts. Feedback it obeys: local/feedback.ts. Fault
 * InvalidInput provider_invalid when the tool cannot work with what it was given. What each model does: docs/dag.md,
 * "Provider local".
 */
export const localProvider: Provider = {
  async dispatch(request) {
    request.signal.throwIfAborted()
    if (request.model === 'script') return scripted(request)
    refuseTools(
      'local',
      request,
      'it is text tools, and no model that could call any; its model "script" says what model_params.turns has',
    )
    for (const file of request.files ?? []) throw fileRefused('local', file, 'texts of its prompt and inputs alone')
    const name = Object.hasOwn(TOOLS, request.model) ? request.model : 'outline'
    const tool = TOOLS[name] ?? outline
    const { params, inputs } = request
    const task = { prompt: ownPrompt(request), params, inputs, sources: readInputSentences(inputs) }
    const made = answerPorts(request, task, tool)
    if ('problem' in made) throw invalid(name, made.problem)
    return answer(request, name, made.text)
  },
}

/** What the author asked, without the feedback the engine put below it: that comes as data. */
function ownPrompt({ prompt, feedback }: DispatchRequest): string {
  const added = withFeedback('', feedback)
  const own = added !== '' && prompt.endsWith(added) ? prompt.slice(0, -added.length) : prompt
  return own.slice(0, MAX_CHARACTERS)
}

/** The one tool of these that calls tools: as its author wrote, and not as anybody thought. */
function scripted(request: DispatchRequest): DispatchAnswer {
  const said = playScript(request)
  if ('problem' in said) throw invalid('script', said.problem)
  return {
    ...answer(request, 'script', said.text),
    calls: said.calls,
    note: 'a script of the document says this, not a model',
  }
}

function answer({ model }: DispatchRequest, tool: string, text: string): DispatchAnswer {
  const other = tool === model ? '' : `; the requested model "${model}" was not used`
  return {
    text,
    // No model, no tokens: shared/providers/model-prices.ts callsModel() keeps its calls out of every budget.
    tokens_in: 0,
    tokens_out: 0,
    usd: 0,
    model: tool,
    finish_reason: 'local',
    note: `local is deterministic text tools, not a model${other}`,
  }
}

function invalid(tool: string, problem: string): Fault {
  return new Fault(
    'InvalidInput',
    'provider_invalid',
    `Cannot answer with provider "local", model "${tool}": ${problem}`,
  )
}
