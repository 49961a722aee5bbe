import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answering, freePort, SERVER_CORE, start } from '../processes.ts'
import type { Target } from './target.ts'

/** The floor: a reverse proxy in C, one worker, kept-alive connections to the far end, streams unbuffered. */
export const nginx: Target = {
  name: 'nginx',
  async start({ upstreamUrl, folder }) {
    const port = await freePort()
    const upstream = new URL(upstreamUrl)
    await writeFile(join(folder, 'nginx.conf'), configuration(folder, port, upstream.host))
    const log = join(folder, 'nginx.log')
    const child = start('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', log], { core: SERVER_CORE, log })
    await answering(`http://127.0.0.1:${port}/v1/models`, child, log)
    return { url: `http://127.0.0.1:${port}/v1`, headers: {}, pids: [child.pid] }
  },
}

const configuration = (folder: string, port: number, upstream: string) => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  client_max_body_size 8m;
  client_body_buffer_size 2m;
  keepalive_requests 100000000;
  upstream far_end {
    server ${upstream};
    keepalive 128;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://far_end;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`
