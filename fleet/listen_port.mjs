// Loaded before an example of the TypeScript SDK whose port is fixed (`node --import`): it listens at PORT on loopback,
// so that several examples run side by side.
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (first, ...rest) {
  const callback = rest.find((argument) => typeof argument === "function");
  return listen.call(this, Number(process.env.PORT), "127.0.0.1", callback);
};
