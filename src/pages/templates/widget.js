// Shows a bar at the top of a web site while something is wrong, or at the bottom: data-position="bottom".
(() => {
  const script = document.currentScript;
  const home = new URL('.', script.src).href;
  const colors = { minor: '#855300', major: '#ab0028', critical: '#ab0028', maintenance: '#24588c' };
  let bar;
  const read = async (name) => {
    const answer = await fetch(home + 'api/v2/' + name + '.json', { credentials: 'omit' });
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  };
  const draw = (color, text) => {
    if (!bar) {
      bar = document.createElement('div');
      bar.setAttribute('role', 'status');
      const link = bar.appendChild(document.createElement('a'));
      link.href = home;
      link.target = '_blank';
      link.rel = 'noopener';
      Object.assign(link.style, {
        all: 'initial', display: 'block', padding: '10px 16px', color: '#fff', cursor: 'pointer',
        font: '600 15px/1.4 system-ui, sans-serif', textAlign: 'center', overflowWrap: 'anywhere',
      });
      if (script.dataset.position === 'bottom') {
        Object.assign(bar.style, { position: 'fixed', bottom: 0, insetInline: 0, zIndex: 2147483647 });
      }
      document.body.prepend(bar);
    }
    bar.style.background = color;
    bar.firstChild.textContent = text;
  };
  const update = async () => {
    if (document.hidden) return;
    try {
      const { status } = await read('status');
      const color = colors[status.indicator];
      if (color) {
        const { incidents } = await read('summary');
        draw(color, incidents.length ? incidents[0].name : status.description);
      } else if (bar) {
        bar.remove();
        bar = undefined;
      }
    } catch {
      // Stays as it is.
    }
  };
  const start = () => {
    update();
    setInterval(update, 60000);
    document.addEventListener('visibilitychange', update);
  };
  if (document.body) start();
  else document.addEventListener('DOMContentLoaded', start);
})();
