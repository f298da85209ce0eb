import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { NOTHING, serve } from './guarded-servers.ts'

const CLIENT = new URL('../../../functions/gates/net-gate.ts', import.meta.url).href

test('a proxy of the environment is not used, also where Node itself is told to use it', async () => {
  const proxy = await serve((_, response) => response.end('by proxy'))
  const server = await serve((_, response) => response.end('straight'))
  const request = { method: 'GET', url: server.url, timeout_ms: 5_000 }
  const policy = { ...NOTHING, loopback: true, ports: [server.port], own_port: 1 }
  const program = `import { limitedRequest } from ${JSON.stringify(CLIENT)}
    const { body } = await limitedRequest(${JSON.stringify(request)}, { policy: ${JSON.stringify(policy)} })
    console.log(body)`
  const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: '1' }
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env })
  let said = ''
  child.stdout.on('data', (text) => (said += text))
  child.stderr.on('data', (text) => (said += text))
  await once(child, 'close')
  expect(said).toBe('straight\n')
  expect(proxy.asked).toEqual([])
  await Promise.all([proxy.close(), server.close()])
})
