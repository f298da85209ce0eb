import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { issuesOf } from '../../../shared/api/zod-issues.ts'
import type { Target } from '../api.ts'
import type { Tool, ToolCall } from './tool.ts'
import { refusedArguments, toolError } from './tool-error.ts'

/** Registers a tool: the schemas are told as JSON Schema, arguments are judged here, and whatever goes wrong is an answer. */
export function serveTool(server: McpServer, target: Target, tool: Tool): void {
  const annotations = {
    readOnlyHint: tool.reads === true,
    destructiveHint: tool.destroys === true,
    idempotentHint: tool.reads === true || tool.repeats === true,
    openWorldHint: false,
  }
  const { title, description } = tool
  const schemas = { inputSchema: told(tool.input, 'input'), outputSchema: told(tool.output, 'output') }
  server.registerTool(tool.name, { title, description, annotations, ...schemas }, async (args, context) => {
    try {
      const parsed = tool.input.safeParse(args ?? {})
      if (!parsed.success) return refusedArguments(tool.name, issuesOf(parsed.error, tool.input, args))
      const answer = await tool.run(parsed.data, callOf(target, context))
      return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
    } catch (error) {
      return toolError(error, context.mcpReq.signal)
    }
  })
}

function callOf(target: Target, { mcpReq }: ServerContext): ToolCall {
  const progressToken = mcpReq._meta?.progressToken
  return {
    target,
    signal: mcpReq.signal,
    async progress(progress, message) {
      if (progressToken === undefined) return
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
    },
  }
}

/**
 * A schema as the protocol has it. It lets everything through: a wrong argument is answered by the tool, with code and
 * hint, not by the SDK with a text of its own; and what has no JSON form (free JSON values) is any value.
 */
function told(schema: z.ZodType, io: 'input' | 'output') {
  const json = () => z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  } as const
}
