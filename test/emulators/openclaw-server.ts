import { completes } from './openai-server.ts'
import { type Asked, json, type ProviderServer, serveProvider } from './provider-server.ts'

/**
 * The chat completions of an OpenClaw gateway whose agents are a function: `model` names an agent, the bearer's token is
 * an operator's, an agent that is not there is refused. Source: the gateway's own page on its OpenAI HTTP API.
 */
export function startOpenclaw(
  reply: (asked: Asked) => string,
  key?: string,
  agents = ['main', 'm-1'],
): Promise<ProviderServer> {
  return serveProvider((response, asked) => {
    if (asked.path !== '/v1/chat/completions') return json(404, { error: { message: 'Not Found' } })(response, asked)
    const agent =
      asked.headers['x-openclaw-agent-id'] ?? /^(?:openclaw[:/]|agent:)(.+)$/.exec(String(asked.body.model))?.[1]
    if (agent !== undefined && !agents.includes(agent)) {
      return json(400, { error: { message: `unknown agent ${agent}`, type: 'invalid_request_error' } })(response, asked)
    }
    return completes(reply(asked))(response, asked)
  }, key)
}
